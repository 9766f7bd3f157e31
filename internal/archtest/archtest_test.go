package archtest

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "brine/"

// rules are the packages of ours that a package may import, apart from tests. A pattern ending in /... covers what is below it. The first
// matching rule counts. "*" means anything.
var rules = []struct {
	pkg   string
	allow []string
	why   string
}{
	{"event", nil, "what passes along the path must not know the path"},
	{"mask", []string{"event"}, "what may be shown, whoever shows it"},
	{"derive", []string{"event"}, "expressions over values, and nothing else to ask"},
	{"event/csv", []string{"event"}, "bytes in, fields out"},
	{"event/avro", []string{"event", "registry"}, "bytes in, fields out"},
	{"event/protobuf", []string{"event", "registry"}, "a format reads records, and asks for schemas by their ids"},
	{"rowkey", nil, "row keys are pure and stand alone"},
	{"registry", []string{"event", "internal/backoff", "internal/certs"}, "bytes and ids in, schemas out: decoders of records stand above it"},
	{"rowkey/eventkey", []string{"event", "rowkey"}, "where the two pure packages meet"},
	{"skew/display", []string{"internal/term", "rowkey", "skew"}, "what skew knows, for people"},
	{"skew", nil, "counts in, indices out"},
	{"skew/past", []string{"skew"}, "what maps were, whoever keeps it"},
	{"plan", []string{"rowkey", "skew"}, "sampled rows in, a plan out"},
	{"skew/skewtest", []string{"skew"}, "the skew of tables, for tests"},
	{"search", nil, "what is asked of an index, whatever the index"},
	{"internal/backoff", nil, ""},
	{"internal/certs", nil, "certificates in files, whoever encrypts"},
	{"internal/certs/certstest", nil, "files for tests"},
	{"internal/completion", nil, "a command line's model in, words out"},
	{"internal/datadir/datadirtest", nil, ""},
	{"internal/datadir", nil, "what every embedded store's folder is to be"},
	{"internal/fault", nil, "any package may end with one"},
	{"internal/gssapi/gssapitest", nil, "a KDC must not share the mistakes of who asks it"},
	{"internal/gssapi", nil, "tokens in, tokens out, whoever carries them"},
	{"internal/kafkaauth", []string{"internal/certs", "internal/gssapi"}, "who we are to brokers, whoever connects to them"},
	{"internal/guard", nil, "what any HTTP port holds its callers to, whatever it serves"},
	{"internal/refusal", nil, ""},
	{"internal/repeat", nil, ""},
	{"internal/sockets", nil, ""},
	{"internal/when", nil, ""},
	{"internal/wording", nil, ""},
	{"internal/sample/...", []string{"internal/sample", "internal/sample/..."}, "sample data is data"},
	{"internal/sample", nil, "sample data is data"},
	{"internal/memnet", nil, "a network knows nothing of what talks over it"},
	{"internal/simulate", []string{"config", "derive", "event", "event/avro", "event/csv", "event/protobuf", "registry", "rowkey", "rowkey/eventkey", "hbase", "hbase/embedded", "ingest", "ingest/control", "ingest/deadletter", "ingest/embedded", "ingest/pace", "internal/backoff", "internal/memnet", "service/reload", "sink"}, "nothing imports a simulation"},
	{"internal/term", []string{"internal/backoff"}, "bytes out, whoever prints"},
	{"internal/testenv", []string{"ingest/embedded"}, "tests of any package import it"},
	{"internal/archtest", nil, ""},
	{"schema/regions", []string{"hbase", "internal/term", "rowkey", "skew"}, "regions as they are, whatever was configured"},
	{"service/admin", []string{"internal/certs", "internal/fault", "internal/guard", "internal/sockets"}, "whoever runs pipelines hands it what it serves"},
	{"service/brokers", []string{"mask", "config", "event", "forecast", "ingest", "ingest/deadletter", "ingest/offsets", "internal/fault", "internal/kafkaauth", "registry"}, "what a configuration names at the brokers, whoever asks"},
	{"service/mapstore", []string{"hbase", "internal/backoff", "skew", "skew/past"}, "maps in a table of HBase, whoever writes and asks"},
	{"service/reload", []string{"config", "internal/fault", "internal/term"}, "two configurations in, a plan out"},
	{"service/stores", []string{"config", "hbase", "hbase/embedded", "indexer", "indexer/elastic", "indexer/embedded", "internal/fault", "internal/term", "registry", "search", "service/admin"}, "what a configuration names, opened"},
	{"service/devstack", []string{"account", "config", "hbase/embedded", "indexer/embedded", "ingest", "ingest/embedded", "ingest/offsets", "internal/datadir", "internal/fault", "internal/sample", "internal/term", "publish", "schema", "service", "service/admin", "service/stores"}, "servers in one process, and who fills them"},
	{"service/testhbase", []string{"hbase/embedded", "hbase/embedded/faulthttp", "internal/fault", "internal/guard", "internal/term", "service/admin", "service/stores"}, "an HBase alone, whoever tests by it"},
	{"service/former", []string{"config", "event", "ingest/control", "ingest/eras", "service/reload"}, "how halves were configured before, whoever reads their records again"},
	{"service/yield", nil, "numbers in, a limit out, whoever gives way to whom"},
	{"service/fixes", []string{"config", "derive", "event"}, "what dead letters are fixed by, as it is typed"},
	{"service/letters", []string{"service/brokers", "service/fixes", "mask", "config", "derive", "event", "hbase", "indexer", "ingest/deadletter", "internal/term", "internal/when", "internal/fault", "rowkey", "service", "sink", "verify"}, "what is done about dead letters, whoever asks for it"},
	{"service/replays", []string{"config", "hbase", "ingest", "internal/fault", "service/former", "internal/term", "internal/when", "rowkey", "schema", "service", "service/brokers", "verify"}, "a replay as it is asked for, whoever asks for it"},
	{"service/verifications", []string{"config", "event", "hbase", "ingest", "ingest/offsets", "internal/fault", "schema", "service", "service/former", "service/brokers", "service/replays", "verify"}, "a verification as it is asked for, whoever asks for it"},
	{"service/jobs", []string{"account", "internal/backoff", "internal/fault", "internal/term", "internal/wording", "serve/client"}, "long work, whatever it is"},
	{"service", []string{"account", "account/oidc", "command", "mask", "config", "event", "explain", "hbase", "indexer", "indexer/embedded", "ingest", "ingest/control", "ingest/deadletter", "ingest/eras", "ingest/offsets", "ingest/pace", "internal/backoff", "internal/fault", "internal/repeat", "internal/term", "internal/wording", "lookup", "metrics", "pressure", "publish", "registry", "reindex", "rowkey", "schema", "search", "serve", "serve/written", "service/admin", "service/brokers", "service/fixes", "service/former", "service/mapstore", "service/reload", "service/stores", "service/yield", "sink", "skew", "tracing", "verify"}, "pipelines at work, whoever started them"},
	{"hbase/hbasepb/...", []string{"hbase/hbasepb/..."}, ""},
	{"hbase/hbasepb", nil, ""},
	{"hbase/internal/wire", []string{"hbase/hbasepb"}, "bytes in, structs out"},
	{"hbase/internal/remote", []string{"hbase/hbasepb", "hbase/internal/wire", "internal/backoff"}, "what servers answer instead of a result, and what is done about it"},
	{"hbase/internal/zk/zktest", []string{"hbase/hbasepb"}, "an ensemble in a test, which shares no code with the client"},
	{"hbase/internal/zk", []string{"hbase/hbasepb", "hbase/internal/wire", "hbase/internal/remote", "internal/sockets"}, "znodes in, locations out"},
	{"hbase/internal/rpc", []string{"hbase/hbasepb", "hbase/internal/wire", "hbase/internal/remote", "internal/certs", "internal/gssapi"}, "calls out, answers in"},
	{"hbase/internal/locate", []string{"hbase/hbasepb", "hbase/internal/rpc", "hbase/internal/remote"}, "rows in, servers out"},
	{"hbase/internal/hedge", []string{"hbase/internal/locate", "hbase/internal/remote"}, "whose answer counts, whatever is asked"},
	{"hbase/internal/pipeline", []string{"hbase/hbasepb", "hbase/internal/wire", "hbase/internal/rpc", "hbase/internal/remote", "hbase/internal/locate", "internal/backoff"}, "batches in, results out, without a client"},
	{"hbase/embedded/faulthttp", []string{"hbase/embedded", "hbase/hbasepb"}, "faults over HTTP, and nothing that the server does not do by itself"},
	{"hbase/embedded/...", []string{"hbase/internal/wire", "hbase/hbasepb", "hbase/embedded/...", "internal/certs", "internal/datadir", "internal/sockets"}, "the server must not share the client's mistakes"},
	{"hbase/embedded", []string{"hbase/internal/wire", "hbase/hbasepb", "hbase/embedded/...", "internal/certs", "internal/gssapi", "internal/sockets"}, "the server must not share the client's mistakes"},
	{"hbase/hbasetest/...", []string{"hbase", "hbase/embedded", "hbase/hbasetest/...", "internal/backoff"}, ""},
	{"hbase/hbasetest", []string{"hbase", "hbase/embedded", "internal/backoff"}, "tests of any package import it, and nothing else does"},
	{"hbase/tabledump", []string{"hbase"}, "a table as text, of whichever HBase"},
	{"hbase", []string{"hbase/internal/...", "hbase/hbasepb", "internal/backoff", "internal/certs", "internal/gssapi", "internal/sockets"}, "usable by someone who wants nothing else of ours"},
	{"ingest/embedded", []string{"internal/datadir", "internal/sockets"}, "the broker must not share the loop's mistakes"},
	{"ingest/internal/broker", []string{"event", "internal/backoff", "internal/certs", "internal/sockets"}, "the protocol must not know what the loop does with records"},
	{"ingest/internal/note", []string{"ingest/internal/broker"}, "what commits note, whoever commits"},
	{"ingest/offsets", []string{"ingest/internal/broker", "ingest/internal/note", "internal/backoff", "internal/when"}, "whoever asks where topics and groups are needs no loop"},
	{"ingest/deadletter", []string{"event", "ingest/internal/broker", "internal/backoff"}, "letters are written and read without the loop"},
	{"ingest/eras", []string{"event"}, "by what records were read, whoever reads them again"},
	{"ingest/budget", nil, "bytes in parts, whoever holds them"},
	{"ingest/pace", nil, "what is asked of a loop, whoever asks and whichever it is"},
	{"ingest/control", []string{"event", "ingest/internal/broker", "internal/backoff"}, "what is asked is read and written without the loop"},
	{"ingest", []string{"event", "ingest/budget", "ingest/internal/broker", "ingest/internal/note", "ingest/deadletter", "ingest/eras", "ingest/pace", "ingest/offsets", "internal/backoff", "internal/when", "internal/wording"}, "the loop must not know its writers"},
	{"sink", []string{"event", "rowkey", "rowkey/eventkey", "hbase", "internal/refusal"}, ""},
	{"indexer/...", []string{"indexer", "event", "rowkey", "rowkey/eventkey", "search", "internal/backoff", "internal/certs", "internal/datadir", "internal/refusal", "internal/sockets", "indexer/..."}, ""},
	{"indexer", []string{"event", "rowkey", "rowkey/eventkey", "search", "internal/backoff", "internal/refusal"}, ""},
	{"lookup", []string{"event", "rowkey", "rowkey/eventkey", "hbase"}, "a writer in front of a writer, whichever it is"},
	{"query", []string{"mask", "event", "rowkey", "rowkey/eventkey", "hbase", "search", "internal/when"}, ""},
	{"account", []string{"internal/backoff", "internal/certs", "internal/datadir"}, "who may ask, whatever is asked"},
	{"account/oidc", []string{"account", "internal/certs"}, "who somebody is by a provider; whoever serves keeps the account"},
	{"command", []string{"event", "query", "internal/backoff"}, "what people may change; whoever serves says who asks, whoever publishes how"},
	{"serve/client", nil, "it speaks to the API, and shares no code with what answers"},
	{"sqlconsole", []string{"event", "internal/term", "internal/when", "mask", "query", "rowkey", "rowkey/eventkey", "search"}, "query reads the stores; a plan is made without them"},
	{"sqlconsole/shell", []string{"event", "internal/term", "query", "sqlconsole"}, "statements and who asks them"},
	{"console", nil, "files for browsers, which ask the API and nothing else"},
	{"serve/live", nil, "it shares what is asked, whatever that is"},
	{"serve/written", nil, "keys of rows, whoever writes and whoever reads them"},
	{"serve", []string{"account", "account/oidc", "command", "mask", "hbase", "internal/fault", "internal/guard", "internal/when", "query", "rowkey", "search", "serve/client", "serve/live", "serve/written", "sqlconsole"}, "query reads the stores; whoever serves hands over what is asked, and of what"},
	{"verify/display", []string{"internal/term", "internal/when", "internal/wording", "mask", "verify"}, "what was verified, for people"},
	{"verify", []string{"mask", "event", "rowkey", "hbase", "ingest", "ingest/deadletter", "ingest/eras", "search", "sink", "indexer", "internal/backoff", "internal/term"}, "what is expected is made by the code that writes"},
	{"explain", []string{"mask", "event", "rowkey", "hbase", "ingest", "ingest/deadletter", "ingest/offsets", "search", "sink", "indexer", "internal/term", "internal/when", "verify"}, "what a record becomes is made by the code that writes"},
	{"query/display", []string{"config", "event", "internal/term", "internal/when", "query", "rowkey"}, "what questions are answered with, for people"},
	{"service/letters/display", []string{"ingest/deadletter", "internal/term", "internal/when", "mask", "service/brokers", "service/letters"}, "dead letters, for people"},
	{"reindex/display", []string{"internal/term", "reindex"}, "how a reindex goes, for people"},
	{"reindex", []string{"event", "rowkey", "rowkey/eventkey", "hbase", "ingest", "ingest/deadletter", "search", "sink", "indexer", "internal/backoff", "internal/term", "internal/wording"}, "rows and records become documents by the code that writes them"},
	{"top", []string{"hbase", "pressure", "skew", "internal/term", "internal/wording"}, "a picture of what others report; it runs nothing"},
	{"forecast/display", []string{"forecast", "internal/term", "plan", "rowkey", "skew/display"}, "what a sample foretells, for people"},
	{"forecast", []string{"skew", "mask", "event", "plan", "publish", "rowkey", "sink", "internal/sample", "internal/term"}, "a sample and targets in, a report out"},
	{"contract", []string{"event"}, "what a pipeline declares in, a document out"},
	{"service/operations", []string{"config", "event", "explain", "hbase", "ingest", "ingest/deadletter", "ingest/offsets", "internal/fault", "internal/term", "internal/when", "internal/wording", "mask", "query", "reindex", "rowkey", "schema", "schema/regions", "serve", "serve/client", "service", "service/brokers", "service/jobs", "service/letters", "service/mapstore", "service/reload", "service/replays", "service/stores", "service/verifications", "skew", "verify"}, "what operators see and do, whoever serves it"},
	{"propose", []string{"event", "event/avro", "event/csv", "event/protobuf", "forecast", "registry", "rowkey", "rowkey/eventkey", "internal/term"}, "a sample in, a configuration out"},
	{"schema", []string{"config", "event", "forecast", "hbase", "indexer", "ingest", "internal/fault", "internal/term", "plan", "registry", "rowkey", "search"}, "what a configuration says of stores, and what they are"},
	{"publish", []string{"event", "ingest", "ingest/offsets", "internal/backoff", "internal/certs"}, "files in, records out"},
	{"pressure", nil, "times in, shares out"},
	{"metrics", []string{"command", "event", "hbase", "ingest", "pressure", "registry", "sink", "indexer", "serve", "service/mapstore", "skew", "verify"}, "adapters over the hook types"},
	{"tracing", []string{"event", "hbase", "indexer", "ingest", "search", "internal/term"}, "the hooks of three packages, and what is asked of an index"},
	{"config", []string{"sqlconsole", "account", "account/oidc", "command", "mask", "internal/certs", "internal/gssapi", "internal/kafkaauth", "internal/when", "contract", "derive", "event", "event/avro", "event/csv", "event/protobuf", "forecast", "plan", "rowkey", "rowkey/eventkey", "hbase", "ingest", "sink", "lookup", "indexer", "indexer/...", "query", "registry", "serve"}, "Options of the others"},
	{"cmd/brine", []string{"*"}, ""},
	{"bench", []string{"bench/..."}, "a subcommand is a package below it"},
	{"bench/...", []string{"*"}, "nothing but bench imports a benchmark"},
	{"acceptance", []string{"*"}, "nothing imports it"},
	{"deploy/...", []string{"deploy/..."}, "deployed beside brine, and made without it"},
}

func match(pattern, pkg string) bool {
	if pattern == "*" || pattern == pkg {
		return true
	}
	below, ok := strings.CutSuffix(pattern, "...")
	return ok && strings.HasPrefix(pkg, below)
}

func allowed(pkg, imported string) (ok bool, why string) {
	for _, r := range rules {
		if !match(r.pkg, pkg) {
			continue
		}
		for _, a := range r.allow {
			if match(a, imported) {
				return true, ""
			}
		}
		return false, r.why
	}
	return false, "the package has no rule: enter it in archtest_test.go"
}

// othersRules are the third-party packages that a package must not import, apart from tests: only the package that wraps them may.
var othersRules = []struct {
	pkg  string
	deny []string
	why  string
}{
	{"cmd/brine", []string{"github.com/segmentio/kafka-go", "github.com/twmb/franz-go"}, "a command speaks no protocol: ingest, ingest/offsets and publish do"},
	{"cmd/brine", []string{"brine/hbase/hbasetest"}, "it imports testing, and is for tests"},
	{"service/...", []string{"github.com/segmentio/kafka-go", "github.com/twmb/franz-go/pkg/kgo"}, "pipelines are run by ingest, which speaks to the brokers"},
	{"ingest/offsets", []string{"github.com/segmentio/kafka-go"}, "ingest/internal/broker speaks to the brokers"},
	{"ingest/deadletter", []string{"github.com/segmentio/kafka-go"}, "ingest/internal/broker speaks to the brokers"},
	{"ingest", []string{"github.com/segmentio/kafka-go"}, "ingest/internal/broker speaks to the brokers"},
}

// denied reports whether a package must not import a third-party package, and why.
func denied(pkg, imported string) (bool, string) {
	for _, r := range othersRules {
		if !match(r.pkg, pkg) {
			continue
		}
		for _, d := range r.deny {
			if match(d, imported) || match(d+"/...", imported) {
				return true, r.why
			}
		}
	}
	return false, ""
}

// notOurs reports whether a folder, named from the root, is not part of the repository. What servers keep in theirs can vanish while a test
// looks at it.
func notOurs(name string) bool {
	last := name[strings.LastIndexByte(name, '/')+1:]
	return len(last) > 2 && last[0] == '.' ||
		slices.Contains([]string{"data", "console/node_modules", "console/shots", "deploy/devcluster/lib", "deploy/devcluster/run"}, name)
}

func TestImportsPointOneWay(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		pkg := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		if d.Name() == "testdata" || notOurs(pkg) {
			return fs.SkipDir
		}
		p, err := build.ImportDir(path, 0)
		if err != nil { // no Go files here
			return nil //nolint:nilerr
		}
		seen++
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s has no package comment", pkg)
		}
		for _, imp := range p.Imports {
			if bad, why := denied(pkg, imp); bad {
				t.Errorf("%s must not import %s: %s", pkg, imp, why)
			}
			if ours, ok := strings.CutPrefix(imp, module); ok {
				if ok, why := allowed(pkg, ours); !ok {
					t.Errorf("%s must not import %s: %s", pkg, ours, why)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 20 {
		t.Fatalf("saw only %d packages: the test looks at the wrong place", seen)
	}
}

func TestRulesCanFail(t *testing.T) {
	for _, c := range []struct{ pkg, imported string }{
		{"event", "hbase"}, {"ingest", "sink"}, {"ingest", "hbase"}, {"hbase/embedded", "hbase"}, {"hbase", "metrics"}, {"nowhere", "event"},
	} {
		if ok, _ := allowed(c.pkg, c.imported); ok {
			t.Errorf("%s may import %s, but must not", c.pkg, c.imported)
		}
	}
	if bad, _ := denied("cmd/brine", "github.com/segmentio/kafka-go/protocol"); !bad {
		t.Error("cmd/brine may import kafka-go, but must not")
	}
	if bad, _ := denied("cmd/brine", "brine/hbase/hbasetest"); !bad {
		t.Error("cmd/brine may import hbasetest, but must not")
	}
	if bad, _ := denied("cmd/brine", "github.com/twmb/franz-go/pkg/kmsg"); !bad {
		t.Error("cmd/brine may import franz-go, but must not")
	}
}
