package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go/sasl"
)

const minimal = `
kafka: { brokers: [localhost:9092] }
hbase: { connect: "embedded:./data" }
tables:
  t: { row: entity, key: "md5(id, 4) + id", families: { e: {} } }
pipelines:
  p:
    topic: p
    fields: { id: text, v: text }
    rows: [ { table: t, set: { "e:v": v } } ]
`

func TestEnvironmentOverrides(t *testing.T) {
	for _, c := range []struct {
		name, source string
		env          []string
		got          func(*Config) any
		want         any
	}{
		{"list", minimal, []string{"BRINE_KAFKA_BROKERS", "a:1, b:2"}, func(c *Config) any { return c.Kafka.Brokers }, []string{"a:1", "b:2"}},
		{"text", minimal, []string{"BRINE_HBASE_CONNECT", "rpc://m:16000"}, func(c *Config) any { return c.Cluster.Connect }, "rpc://m:16000"},
		{"absent section", minimal, []string{"BRINE_HTTP_LISTEN", "127.0.0.1:0"}, func(c *Config) any { return c.HTTP.Listen }, "127.0.0.1:0"},
		{"top level", minimal, []string{"BRINE_MEMORY", "32MiB"}, func(c *Config) any { return c.Memory }, Bytes(32 << 20)},
		{"number", minimal, []string{"BRINE_HBASE_RETRIES", "7"}, func(c *Config) any { return c.HBase().Retries }, 7},
		{"no expansion", minimal, []string{"BRINE_HBASE_USER", "${HOME}"}, func(c *Config) any { return c.Cluster.User }, "${HOME}"},
		{"fixes what is missing", strings.Replace(minimal, "brokers: [localhost:9092]", "", 1), []string{"BRINE_KAFKA_BROKERS", "a:1"},
			func(c *Config) any { return c.Kafka.Brokers }, []string{"a:1"}},
		{"null section", "kafka:\n" + strings.Replace(minimal, "kafka: { brokers: [localhost:9092] }", "", 1), []string{"BRINE_KAFKA_BROKERS", "a:1"},
			func(c *Config) any { return c.Kafka.Brokers }, []string{"a:1"}},
		{"no override", minimal, nil, func(c *Config) any { return c.Kafka.Group }, "brine"},
		{"variable", strings.Replace(minimal, "./data", "${A}/${B}$${C}", 1), []string{"A", "a b: c", "B", ""}, func(c *Config) any { return c.Cluster.Connect }, "embedded:a b: c/${C}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, problems := Parse("brine.yaml", []byte(c.source), environ(c.env...))
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.got(cfg)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestEnvironmentFaultsNameTheVariable(t *testing.T) {
	_, problems := Parse("brine.yaml", []byte(minimal), environ(
		"BRINE_KAFKA_BROKERS", "localhost", "BRINE_MEMORY", "much", "BRINE_HBASE_RETRIES", "1", "BRINE_HBASE_CONNECT", ""))
	const want = `BRINE_HBASE_CONNECT: hbase.connect: is empty; write connect: rpc://master1:16000,master2:16000 [missing]
BRINE_HBASE_RETRIES: warning: hbase.retries: so few retries run out before a region has moved or split: its rows then fail, and the loop resubmits their events again and again, which takes longer; leave it at 15 [few-retries]
BRINE_KAFKA_BROKERS: kafka.brokers[0]: is not a valid broker address; write host:port [address]
BRINE_MEMORY: memory: its value is not a size; write memory: 64MiB [type]
`
	if diff := cmp.Diff(want, problems.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestUnknownEnv(t *testing.T) {
	problems := UnknownEnv([]string{"HOME=/", "BRINE_KAFKA_BROKERS=a:1", "BRINE_KAFKA_BROKER=a:1", "BRINE_HBASE_FOO=1", "BRINE_REAL=required",
		"BRINE_CONFIG=x", "KAFKA_BROKER=1", "BRINE_MEMROY=1MiB"})
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	want := []string{
		"BRINE_HBASE_FOO: warning: matches no setting; see docs/configuration.md for the known variables [unknown-variable]",
		"BRINE_KAFKA_BROKER: warning: matches no setting; did you mean BRINE_KAFKA_BROKERS? [unknown-variable]",
		"BRINE_MEMROY: warning: matches no setting; did you mean BRINE_MEMORY? [unknown-variable]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if problems.Err() != nil {
		t.Error("a stray variable keeps brine from starting")
	}
}

// Content of files is read again at each use, and used if it is valid.
func TestSecretsInFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "${file:" + file + "}"
	}
	source := strings.Replace(minimal, "kafka: {", "kafka: { sasl: { mechanism: plain, user: u, password: '"+put("kafka", "first\n")+"' }, tls: { enabled: true },", 1) +
		"search: { connect: https://localhost:9200, user: u, password: 'pre-" + put("search", "first\r\n") + "-${file:" + dir + "/kafka}' }\n" +
		"registry: { url: 'https://localhost:8081', token: '" + put("registry", "first") + "' }\n" +
		"http: { token: '" + put("http", "first-of-the-tokens\n") + "' }\n"
	cfg, problems := Parse("brine.yaml", []byte(source), environ())
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	want := func(kafka, search, registry, token string) {
		t.Helper()
		_, said, err := cfg.Kafka.Options().SASL.Start(sasl.WithMetadata(t.Context(), &sasl.Metadata{Host: "h", Port: 1}))
		password, _ := cfg.Search.Elastic().Secrets()
		o, _ := cfg.Registry()
		_, bearer := o.Secrets()
		if got := cfg.HTTP.Followed()(); err != nil || string(said) != "\x00u\x00"+kafka || password != search || bearer != registry || got != token {
			t.Errorf("%q %v, %q, %q, %q", said, err, password, bearer, got)
		}
	}
	want("first", "pre-first-first", "first", "first-of-the-tokens")
	put("kafka", "second")
	put("search", "second\n")
	put("registry", "second\n\n")
	put("http", "second-of-the-tokens")
	want("second", "pre-second-second", "second\n", "second-of-the-tokens")
	put("http", "short") // no token
	put("kafka", "")
	if err := os.Remove(filepath.Join(dir, "registry")); err != nil {
		t.Fatal(err)
	}
	want("second", "pre-second-", "second\n", "second-of-the-tokens")
	if cfg, problems := Parse("brine.yaml", []byte(minimal), environ()); problems.Err() != nil || cfg.HTTP.Followed() != nil || cfg.Search.Elastic().Secrets != nil {
		t.Error("follows what stands in no file")
	}
}

// An unusable file is a problem that names it, and shows nothing of its content.
func TestSecretFilesThatCannotBeTaken(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"large": strings.Repeat("hunter2", 10_000), "binary": "hunter2\xff\xfe"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, says := range map[string]string{
		"absent": "cannot be read: no such file or directory; name one that brine can read", "": "cannot be read: not a regular file",
		"large": "cannot be read: more than 64 KiB", "binary": "cannot be read: not UTF-8 text",
	} {
		_, problems := Parse("brine.yaml", []byte(minimal+"http: { token: '${file:"+dir+"/"+name+"}' }\n"), environ())
		if got := problems.String(); !strings.Contains(got, says) || !strings.Contains(got, "http.token") || strings.Contains(got, "hunter2") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
