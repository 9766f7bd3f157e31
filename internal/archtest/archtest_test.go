package archtest

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

const module = "brine/"

// rules says which packages of ours a package may import, tests aside. A pattern ending in /... covers what is below it.
// The first matching rule counts. "*" means anything.
var rules = []struct {
	pkg   string
	allow []string
	why   string
}{
	{"event", nil, "what passes along the path must not know the path"},
	{"rowkey", nil, "row keys are pure and stand alone"},
	{"rowkey/eventkey", []string{"event", "rowkey"}, "where the two pure packages meet"},
	{"skew", nil, "counts in, indices out"},
	{"plan", []string{"rowkey", "skew"}, "sampled rows in, a plan out"},
	{"search", nil, "what is asked of an index, whatever the index"},
	{"internal/backoff", nil, ""},
	{"internal/datadir/datadirtest", nil, ""},
	{"internal/datadir", nil, "what every embedded store's folder is to be"},
	{"internal/refusal", nil, ""},
	{"internal/repeat", nil, ""},
	{"internal/sockets", nil, ""},
	{"internal/when", nil, ""},
	{"internal/wording", nil, ""},
	{"internal/sample/...", []string{"internal/sample", "internal/sample/..."}, "sample data is data"},
	{"internal/sample", nil, "sample data is data"},
	{"internal/memnet", nil, "a network knows nothing of what talks over it"},
	{"internal/simulate", []string{"event", "rowkey", "rowkey/eventkey", "hbase", "hbase/embedded", "ingest", "ingest/embedded", "internal/memnet", "sink"}, "nothing imports a simulation"},
	{"internal/term", nil, "bytes out, whoever prints"},
	{"internal/testenv", []string{"ingest/embedded"}, "tests of any package import it"},
	{"internal/archtest", nil, ""},
	{"service/admin", nil, "whoever runs pipelines hands it what it serves"},
	{"hbase/hbasepb/...", []string{"hbase/hbasepb/..."}, ""},
	{"hbase/hbasepb", nil, ""},
	{"hbase/internal/wire", []string{"hbase/hbasepb"}, "bytes in, structs out"},
	{"hbase/embedded/...", []string{"hbase/internal/wire", "hbase/hbasepb", "hbase/embedded/...", "internal/datadir", "internal/sockets"}, "the server must not share the client's mistakes"},
	{"hbase/embedded", []string{"hbase/internal/wire", "hbase/hbasepb", "hbase/embedded/...", "internal/datadir", "internal/sockets"}, "the server must not share the client's mistakes"},
	{"hbase/hbasetest/...", []string{"hbase", "hbase/embedded", "hbase/hbasetest/...", "internal/backoff"}, ""},
	{"hbase/hbasetest", []string{"hbase", "hbase/embedded", "internal/backoff"}, ""},
	{"hbase", []string{"hbase/internal/wire", "hbase/hbasepb", "internal/backoff", "internal/sockets"}, "usable by someone who wants nothing else of ours"},
	{"ingest/embedded", []string{"internal/datadir", "internal/sockets"}, "the broker must not share the loop's mistakes"},
	{"ingest", []string{"event", "internal/backoff", "internal/wording", "internal/sockets"}, "the loop must not know its writers"},
	{"sink", []string{"event", "rowkey", "rowkey/eventkey", "hbase", "internal/refusal"}, ""},
	{"indexer/...", []string{"indexer", "event", "rowkey", "rowkey/eventkey", "search", "internal/backoff", "internal/datadir", "internal/refusal", "internal/sockets", "indexer/..."}, ""},
	{"indexer", []string{"event", "rowkey", "rowkey/eventkey", "search", "internal/backoff", "internal/refusal"}, ""},
	{"lookup", []string{"event", "rowkey", "rowkey/eventkey", "hbase"}, "a writer in front of a writer, whichever it is"},
	{"query", []string{"event", "rowkey", "rowkey/eventkey", "hbase", "search", "skew", "internal/when"}, ""},
	{"verify", []string{"event", "rowkey", "rowkey/eventkey", "hbase", "ingest", "search", "sink", "indexer"}, "what is expected is made by the code that writes"},
	{"reindex", []string{"event", "rowkey", "rowkey/eventkey", "hbase", "ingest", "search", "sink", "indexer", "internal/backoff"}, "rows and records become documents by the code that writes them"},
	{"publish", []string{"event", "ingest", "internal/backoff"}, "files in, records out"},
	{"metrics", []string{"event", "hbase", "ingest", "sink", "indexer", "skew", "verify"}, "adapters over the hook types"},
	{"tracing", []string{"event", "hbase", "indexer", "search", "internal/term"}, "the hooks of three packages, and what is asked of an index"},
	{"config/...", []string{"config/...", "internal/when", "event", "rowkey", "rowkey/eventkey", "hbase", "ingest", "sink", "lookup", "indexer/...", "indexer", "query", "search"}, ""},
	{"config", []string{"config/...", "internal/when", "event", "rowkey", "rowkey/eventkey", "hbase", "ingest", "sink", "lookup", "indexer", "indexer/...", "query", "search"}, "Options of the others"},
	{"cmd/brine", []string{"*"}, ""},
	{"bench/...", []string{"*"}, "nothing imports a benchmark"},
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

func TestImportsPointOneWay(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); name == "testdata" || len(name) > 2 && name[0] == '.' {
			return fs.SkipDir
		}
		p, err := build.ImportDir(path, 0)
		if err != nil { // no Go files here
			return nil //nolint:nilerr
		}
		seen++
		pkg := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s has no package comment", pkg)
		}
		for _, imp := range p.Imports {
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
}
