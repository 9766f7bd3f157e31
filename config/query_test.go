package config

import "testing"

// TestQueriesKnowWhichDocumentsAreReplaced: documents of whole changes are replaced, those of partial ones are merged.
func TestQueriesKnowWhichDocumentsAreReplaced(t *testing.T) {
	for file, of := range map[string]struct {
		table    string
		replaced bool
	}{"testdata/changes.good.yaml": {"orders", true}, "testdata/everything.good.yaml": {"shop:orders", false}} {
		cfg, problems := Load(file, environ())
		if cfg == nil {
			t.Fatal(problems)
		}
		if q, ok := cfg.Query(cfg.Table(of.table)); !ok || q.Index.Replaced != of.replaced {
			t.Errorf("%s: documents beside table %s: %+v", file, of.table, q.Index)
		}
	}
}
