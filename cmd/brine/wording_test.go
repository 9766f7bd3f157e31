package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"brine/internal/testenv"
)

// foreign are words of Go and of libraries, which are for brine's developers and not for its users.
var foreign = regexp.MustCompile(`\.\(\*\w+\)\.|strconv\.|2006-01|unparsed tail|parsing time|invalid (?:syntax|character|duration)|cannot unmarshal|\bGo (?:value|struct)|` +
	`\b(?:dial|read|write|listen) tcp|\blookup \S+ on|no such host|i/o timeout|context (?:deadline|canceled)|\bEOF\b|x509:|bit u?int\b|\byaml: (?:line|unmarshal|did|could)|\bjson: (?:cannot|unknown|invalid|unsupported)|\b(?:open|stat|mkdir) \S+: (?:no such|permission|is a|file)|goroutine|panic:|%!\w|<nil>|0xc0`)

// TestNoWordsOfLibraries gives commands all kinds of wrong input. Their messages are in plain words.
func TestNoWordsOfLibraries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	broker := testenv.KafkaFake(t, 1).ListenAddrs()[0]
	const source = `
kafka: { brokers: ["%s"], request_timeout: 300ms }
hbase: { connect: "rpc://%s", dial_timeout: 300ms, retries: 1 }
search: { connect: "%s" }
http: { listen: "127.0.0.1:0" }
tables:
  t: { row: event, key: 'md5(id, 4) + id + "|" + desc(at, ms) + v', families: { e: {} } }
pipelines:
  p:
    topic: t
    fields: { id: text, at: time_ms, n: int, v: text, w: text }
    version: at
    rows: [ { table: t, set: { "e:v": v, "e:n": n } } ]
    documents: [ { index: x, set: { v: v } } ]
indexes:
  x: { fields: { v: keyword } }
`
	good := file("good.yaml", fmt.Sprintf(source, broker, "127.0.0.1:1", "http://127.0.0.1:1"))
	gone := file("gone.yaml", fmt.Sprintf(source, "127.0.0.1:1", "127.0.0.1:1", "http://127.0.0.1:1"))
	nohost := file("nohost.yaml", fmt.Sprintf(source, "no.host.invalid:9092", "no.host.invalid:16000", "http://no.host.invalid:9200"))
	csv := file("bad.csv", "id,at,n\nW1,soon,1\n")
	number := file("number.csv", "id,at,n\nW1,1,one\n")
	lines := file("bad.jsonl", "{\"id\":\n")
	empty := file("empty.jsonl", "")
	nogzip := file("bad.jsonl.gz", "not gzip")
	saved := file("saved.jsonl", `{"pipeline":1}`)
	for _, args := range []string{
		"check nosuch.yaml", "check " + file("syntax.yaml", "kafka: {\n"), "check " + file("tab.yaml", "kafka:\n\tbrokers: x\n"), "check " + csv, "check " + dir + "/nosuch/x.yaml",
		"check --connect " + gone, "check --connect " + nohost, "run --for soon", "run --for 5 -c " + good, "run -c " + gone, "run -c " + nohost, "run --pipeline q -c " + good,
		"tables plan --sample nosuch.jsonl -c " + good, "tables plan --offline --sample " + nogzip + " -c " + good, "tables plan --offline --sample topic:t@x -c " + good,
		"tables plan --offline --sample topic:t -c " + gone, "tables plan --regions many -c " + good, "tables plan --row-bytes many -c " + good, "tables plan --keep long -c " + good,
		"tables plan --tps fast -c " + good, "tables apply -c " + gone, "regions ls -c " + gone, "regions split t zz -c " + gone,
		"key encode t id=W at=soon v=x -c " + good, "key encode t id=W at= v=x -c " + good, "key range t at=soon.. -c " + good, `key decode t \x0 -c ` + good, `key decode t \xzz -c ` + good,
		"key encode --key md5(x --fields x=text x=1", "key encode --key x --fields x=int x=one", "key encode --key x --fields x=float x=one", "key encode --key x --fields x=bool x=one",
		"query t id=W at=soon.. -c " + good, "query t id=W -c " + gone, "query t id=W --limit many -c " + good, "query t id=W --after nonsense -c " + good, "query t n=one -c " + good,
		"query t v=x -c " + gone, "query t v=x -c " + nohost,
		"replay --from soon -c " + good, "replay --from 0:x -c " + good, "replay --from 99999999999999999999 -c " + good, "replay --from earliest --partitions x -c " + good,
		"replay --from earliest --dry-run -c " + gone, "replay --from 2h --dry-run -c " + nohost, "replay --from earliest --rate fast -c " + good, `replay --from earliest --key \x -c ` + good,
		"reindex x --from hbase -c " + gone, "reindex x --from topic --workers many -c " + good,
		"deadletters ls --since soon -c " + good, "deadletters ls --limit many -c " + good, "deadletters ls --after x -c " + good, "deadletters ls -c " + gone,
		"deadletters show x:y -c " + good, "deadletters show 0:99999999999999999999 -c " + good, "deadletters ls --brokers 127.0.0.1:1", "deadletters ls --brokers localhost",
		"offsets show -c " + gone, "offsets show --brokers no.host.invalid:1", "offsets set --to soon -c " + good, "offsets set --to=+x -c " + good,
		"offsets set --to file:nosuch -c " + good, "offsets set --to file:" + saved + " -c " + good, "offsets set --to file:" + lines + " -c " + good,
		"publish nosuch.jsonl --topic t --key id -c " + good, "publish " + csv + " --topic t --key id -c " + good, "publish " + number + " --topic t --key id -c " + good,
		"publish " + csv + " --topic t --key id --time at -c " + good, "publish " + lines + " --topic t --key id -c " + good, "publish " + nogzip + " --topic t --key id -c " + good,
		"publish " + empty + " --topic t --key id -c " + gone, "publish " + lines + " --topic t --key id --rate fast -c " + good, "publish " + dir + " --topic t --key id -c " + good,
		"verify --from soon -c " + good, "verify --sample lots -c " + good, "verify --every x -c " + good, "verify --temp /nosuch -c " + good, "verify -c " + gone,
		"skew --http 127.0.0.1:1", "skew --http :x", "skew --http no.host.invalid:1", "skew --http x", "skew --minutes many", "top --once --every 1 --http 127.0.0.1:1",
		"dev --hbase-port many", "dev --data " + csv, "completion tcsh", "help nosuch",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := brine(t, strings.Fields(args)...)
			if code == exitOK {
				t.Errorf("it did not fail: %s%s", stdout, stderr)
			}
			if found := foreign.FindString(stdout + stderr); found != "" {
				t.Errorf("%q in\n%s%s", found, stdout, stderr)
			}
		})
	}
}
