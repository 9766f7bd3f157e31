package indexertest

import (
	"fmt"
	"slices"
	"testing"

	"brine/indexer"
	"brine/search"
)

// testDelete checks that a document is removed only if it is unchanged since it was read, and that one that is created again is another
// document.
func testDelete(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	create := indexer.Op{Kind: indexer.Create, Index: name, ID: []byte("a"), Source: source("a", 7, `"number":1`)}
	load(t, e, create, put(name, "b", 7, `"number":2`))
	remove := func(id string, as indexer.Stored) indexer.Op {
		return indexer.Op{Kind: indexer.Delete, Index: name, ID: []byte(id), SeqNo: as.SeqNo, PrimaryTerm: as.PrimaryTerm}
	}
	a, b := get(t, e, name, "a"), get(t, e, name, "b")
	load(t, e, put(name, "b", 8, `"number":3`))
	if got := bulk(t, e, remove("a", a), remove("b", b), put(name, "c", 1, ""), remove("absent", a)); !slices.Equal(got,
		[]int{200, 409, 201, 409}) {
		t.Errorf("statuses %v", got)
	}
	refresh(t, e, name)
	if get(t, e, name, "a").Found || rows(t, e, search.Query{Index: name}) != "b c" {
		t.Errorf("left are %s", rows(t, e, search.Query{Index: name}))
	}
	if got := bulk(t, e, create, remove("a", a)); !slices.Equal(got, []int{201, 409}) {
		t.Errorf("a document that came again was removed as the former: %v", got)
	}
}

// testPurge checks that documents marked as deleted are removed once they are old enough, and nothing else.
func testPurge(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	var ops []indexer.Op
	for i := range 2500 { // more than are removed at a time
		ops = append(ops, put(name, fmt.Sprintf("old%04d", i), int64(i%50), `"deleted":true`))
	}
	load(t, e, append(ops, put(name, "new", 50, `"deleted":true`), put(name, "back", 1, `"deleted":false`), put(name, "plain", 1, ""))...)
	for _, want := range []int{2500, 0} {
		if n, err := e.Purge(deadline(t), name, 50); err != nil || n != want {
			t.Errorf("%d were removed, error %v; want %d", n, err, want)
		}
	}
	refresh(t, e, name)
	if got := rows(t, e, search.Query{Index: name, Deleted: true}); got != "back new plain" {
		t.Errorf("left are %s", got)
	}
}

// testPurgeBesideWrites checks that a document that comes back while the deleted ones are being removed exists afterwards, whichever was
// first.
func testPurgeBesideWrites(t *testing.T, e indexer.Engine) {
	const documents, rounds = 400, 3
	name := newIndex(t, e)
	for round := range int64(rounds) {
		var gone, back []indexer.Op
		for i := range documents {
			id := fmt.Sprintf("d%04d", i)
			gone = append(gone, put(name, id, 100*round+10, `"deleted":true`))
			if i%2 == 0 {
				back = append(back, put(name, id, 100*round+50, `"deleted":false`))
			}
		}
		load(t, e, gone...)
		var removed int
		var err error
		done := make(chan struct{})
		ctx := deadline(t)
		go func() {
			defer close(done)
			removed, err = e.Purge(ctx, name, 100*round+20)
		}()
		var statuses []int
		for part := range slices.Chunk(back, 20) {
			statuses = append(statuses, bulk(t, e, part...)...)
		}
		<-done
		if err != nil || removed < documents-len(back) || slices.Max(statuses) > 201 {
			t.Fatalf("round %d: %d were removed, error %v, statuses %v", round, removed, err, statuses)
		}
		refresh(t, e, name)
		refs, docs := make([]indexer.Ref, len(back)), make([]indexer.Stored, len(back))
		for i := range back {
			refs[i] = indexer.Ref{Index: name, ID: back[i].ID}
		}
		if err := e.Get(ctx, refs, docs); err != nil {
			t.Fatal(err)
		}
		for i, doc := range docs {
			if !doc.Found || string(doc.Source) != string(back[i].Source) {
				t.Fatalf("round %d: %s came back and is not there: %+v", round, back[i].ID, doc)
			}
		}
		if page, err := e.Search(deadline(t), search.Query{Index: name, Deleted: true, Size: 1, Count: true}); err != nil ||
			page.Total != int64(len(back)) {
			t.Fatalf("round %d: %d are left, want %d, error %v", round, page.Total, len(back), err)
		}
	}
}

// testPurgeOfParts checks Purge for documents of merged changes, in an index with parts.
func testPurgeOfParts(t *testing.T, e indexer.Engine) {
	w, name := partedWriter(t, e, indexer.Partial, 0)
	gone := func(version int64, order string, month int, is bool) {
		ev := scan(version, order, month, nil)
		ev.Values[5] = Event(version, order, nil, nil, nil, nil, is).Values[5]
		mustWrite(t, w, ev)
	}
	mustWrite(t, w, scan(1, "a", 1, "x"), scan(1, "b", 2, "x"), scan(1, "c", 2, "x"))
	gone(5, "a", 1, true)
	gone(5, "b", 2, true)
	gone(5, "c", 2, true)
	gone(6, "c", 2, false)
	if n, err := e.Purge(deadline(t), name, 6); err != nil || n != 2 {
		t.Errorf("%d were removed, error %v", n, err)
	}
	mustWrite(t, w, scan(7, "a", 1, "again"))
	refresh(t, e, name)
	page, err := e.Search(deadline(t), search.Query{Index: name, Deleted: true, Sort: []search.Order{{Field: "at"}}})
	if err != nil || len(page.Hits) != 2 || page.Hits[0].Fields["status"] != "again" || page.Hits[1].Version != 6 {
		t.Errorf("left are %v, error %v", page.Hits, err)
	}
}
