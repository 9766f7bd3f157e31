package reindex

import (
	"maps"
	"slices"
	"testing"

	"brine/indexer"
	"brine/ingest"
	"brine/search"
)

// documents returns the sources of an index, by id.
func (w *world) documents(index string) map[string]string {
	w.t.Helper()
	if err := w.engine.Refresh(w.t.Context(), index); err != nil {
		w.t.Fatal(err)
	}
	out := map[string]string{}
	for q := (search.Query{Index: index, Size: 1000, Deleted: true}); ; {
		page, err := w.engine.Search(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		refs, docs := make([]indexer.Ref, len(page.Hits)), make([]indexer.Stored, len(page.Hits))
		for i := range page.Hits {
			refs[i] = indexer.Ref{Index: index, ID: indexer.AppendID(nil, page.Hits[i].Row)}
		}
		if len(refs) > 0 {
			if err := w.engine.Get(w.t.Context(), refs, docs); err != nil {
				w.t.Fatal(err)
			}
		}
		for i := range docs {
			out[string(refs[i].ID)] = string(docs[i].Source)
		}
		if q.After = page.Next; page.Next == "" {
			return out
		}
	}
}

// expected returns the documents that one undisturbed reading of the topic makes.
func (w *world) expected() map[string]string {
	w.t.Helper()
	o := w.source.writing(w.name + "-expected")
	if err := w.engine.EnsureIndex(w.t.Context(), o.Mappings()[0]); err != nil {
		w.t.Fatal(err)
	}
	docs, err := indexer.New(w.engine, o)
	if err != nil {
		w.t.Fatal(err)
	}
	defer docs.Close()
	r := ingest.ReplayOptions{Options: w.ingestOptions("expected"), Untracked: true}
	r.Writer = docs
	replay, err := ingest.NewReplay(r)
	if err != nil {
		w.t.Fatal(err)
	}
	plan, err := replay.Plan(w.t.Context())
	if err == nil {
		err = replay.Run(w.t.Context(), plan)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return w.documents(w.name + "-expected")
}

// same fails the test for the first documents that differ.
func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	shown := 0
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if got[id] != want[id] && shown < 3 {
			t.Errorf("document %s\n got %s\nwant %s", id, got[id], want[id])
			shown++
		}
	}
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%d documents, want %d", len(got), len(want))
	}
}
