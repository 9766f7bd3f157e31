package main

import (
	"slices"
	"strings"
	"testing"

	"brine/indexer"
	"brine/search"
)

// TestReindexEndToEnd: an index rebuilt from the rows or from the topic equals the old one document by document, and verify accepts it.
func TestReindexEndToEnd(t *testing.T) {
	t.Parallel()
	changes := orderChanges()
	for _, s := range orderStacks {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			j := newJobOf(t, s.start(t), ordersExample)
			j.publish(slices.Values(shuffled(changes, 1)))
			j.must("run", "-q", "-c", j.file, "--until-end")
			want := j.documents()
			for _, from := range []string{"hbase", "topic"} {
				plan := j.must("reindex", j.name, "-c", j.file, "--from", from, "--dry-run")
				if !strings.Contains(plan, "it has 2,000 documents now") {
					t.Errorf("the plan is %s", plan)
				}
				out := j.must("reindex", j.name, "-c", j.file, "--from", from, "--drop-old")
				t.Log(out)
				compare(t, j.documents(), want)
				j.must("verify", "-q", "-c", j.file, "--full")
			}
			j.onlyIndex()
		})
	}
}

// onlyIndex checks that the index is the only one of its name, with nothing beside it.
func (j *job) onlyIndex() {
	j.t.Helper()
	engine := j.engine()
	defer engine.Close()
	if _, err := engine.Mapping(j.t.Context(), indexer.Beside(j.name)); err == nil {
		j.t.Error("something is beside the index still")
	}
	if _, err := engine.Search(j.t.Context(), search.Query{Index: j.name}); err != nil {
		j.t.Error(err)
	}
}
