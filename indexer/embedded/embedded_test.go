package embedded_test

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"brine/indexer"
	"brine/indexer/embedded"
	"brine/indexer/indexertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string) *embedded.Engine {
	t.Helper()
	e, err := embedded.Open(embedded.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestConformance(t *testing.T) {
	e := open(t, t.TempDir())
	indexertest.Run(t, func(*testing.T) indexer.Engine { return e })
}

func TestReopened(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	m := indexer.Mapping{Index: "orders", Fields: []indexer.Field{{Name: "status", Type: indexer.Keyword}}}
	if err := e.EnsureIndex(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	put := func(e *embedded.Engine, version int64) int {
		ops := []indexer.Op{{Kind: indexer.Put, Index: "orders", ID: []byte("a"), Version: version, Source: []byte(`{"status":"x"}`)}}
		results := make([]indexer.Result, 1)
		if err := e.Bulk(t.Context(), ops, results); err != nil {
			t.Fatal(err)
		}
		return results[0].Status
	}
	if got := put(e, 5); got != 201 {
		t.Fatalf("status %d", got)
	}
	if _, err := embedded.Open(embedded.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "another brine") {
		t.Errorf("a second engine on the folder: error %v", err)
	}
	e.Close()
	e = open(t, dir)
	if have, err := e.Mapping(t.Context(), "orders"); err != nil || len(have.Fields) != 1 || have.Fields[0] != m.Fields[0] {
		t.Errorf("mapping %v, error %v", have, err)
	}
	if got := put(e, 4); got != 409 {
		t.Errorf("the version did not survive: status %d", got)
	}
}

// TestOneAnalyzer checks that search.analyzer is ignored, so that changing it has no effect.
func TestOneAnalyzer(t *testing.T) {
	e := open(t, t.TempDir())
	for _, analyzer := range []string{"standard", "smartcn"} {
		m := indexer.Mapping{Index: "orders", Fields: []indexer.Field{{Name: "item", Type: indexer.Text, Analyzer: analyzer}}}
		if err := e.EnsureIndex(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if have, err := e.Mapping(t.Context(), "orders"); err != nil || have.Fields[0].Analyzer != "" {
			t.Errorf("%s: mapping %v, error %v", analyzer, have, err)
		}
	}
}

func TestFolderOfItsOwnIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	e := open(t, "")
	if err := e.EnsureIndex(t.Context(), indexer.Mapping{Index: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
	if err := e.Bulk(t.Context(), []indexer.Op{{Kind: indexer.Put, Index: "a", ID: []byte("a"), Source: []byte(`{}`)}}, make([]indexer.Result, 1)); err == nil {
		t.Error("a closed engine has written")
	}
}
