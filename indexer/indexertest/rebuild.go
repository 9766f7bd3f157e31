package indexertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/indexer"
	"brine/search"
)

// testRebuild checks that an index that was built beside another takes its place at once, with another mapping, and that the former index
// can be dropped, and no other.
func testRebuild(t *testing.T, e indexer.Engine) {
	again := e.(indexer.Rebuilder)
	ctx, name := deadline(t), newIndex(t, e)
	load(t, e, put(name, "a", 1, `"status":"old"`), put(name, "b", 1, `"status":"old"`))
	if err := again.Promote(ctx, name); !errors.Is(err, search.ErrNoIndex) {
		t.Fatalf("with nothing beside it: error %v", err)
	}
	former, err := again.Behind(ctx, name)
	if err != nil || !slices.Equal(former, []string{name + "-000001"}) {
		t.Fatalf("behind the index are %q, error %v", former, err)
	}
	rebuilt := mapping(indexer.Beside(name))
	rebuilt.Fields[6].Type = indexer.Text // status
	for range 2 {
		if err := e.EnsureIndex(ctx, rebuilt); err != nil {
			t.Fatal(err)
		}
	}
	load(t, e, put(rebuilt.Index, "a", 2, `"status":"new words"`))
	if got := collect(t, e, search.Query{Index: name}); len(got) != 2 {
		t.Fatalf("while another is built, the index holds %q", got)
	}
	room, err := again.Room(ctx, name)
	if err != nil || room.Index <= 0 || room.Free == 0 {
		t.Errorf("room %+v, error %v", room, err)
	}
	if err := again.Promote(ctx, name); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, e, search.Query{Index: name, Filter: []search.Clause{search.Match{Field: "status", Text: "words"}}}); len(got) != 1 {
		t.Errorf("after it has taken the place, found are %q", got)
	}
	if statuses := bulk(t, e, put(name, "a", 1, ""), put(name, "c", 1, ""),
		put(rebuilt.Index, "d", 1, "")); !slices.Equal(statuses, []int{409, 201, 404}) {
		t.Errorf("statuses %v", statuses)
	}
	for range 2 {
		if err := again.Drop(ctx, former); err != nil {
			t.Error(err)
		}
	}
	refresh(t, e, name)
	if got := collect(t, e, search.Query{Index: name}); len(got) != 2 {
		t.Errorf("after the former one is dropped, found are %q", got)
	}
}

// testRebuildDiscarded checks that what was built can be dropped, and built once more.
func testRebuildDiscarded(t *testing.T, e indexer.Engine) {
	again := e.(indexer.Rebuilder)
	ctx, name := deadline(t), newIndex(t, e)
	for n := range 3 {
		if err := e.EnsureIndex(ctx, mapping(indexer.Beside(name))); err != nil {
			t.Fatal(err)
		}
		if status := bulk(t, e, put(indexer.Beside(name), "a", 1, "")); status[0] != 201 {
			t.Fatalf("time %d: status %v: it is not empty", n, status)
		}
		for range 2 {
			if err := again.Discard(ctx, name); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := e.Mapping(ctx, indexer.Beside(name)); !errors.Is(err, search.ErrNoIndex) {
			t.Fatalf("it is still there: error %v", err)
		}
	}
	if _, err := e.Mapping(ctx, name); err != nil {
		t.Errorf("the index itself: %v", err)
	}
}

// testRebuildParts checks that an index with parts is rebuilt in parts, and that later documents go to the right part.
func testRebuildParts(t *testing.T, e indexer.Engine) {
	again := e.(indexer.Rebuilder)
	w, name := partedWriter(t, e, indexer.Whole, 0)
	mustWrite(t, w, scan(10, "a", 1, "old"), scan(10, "b", 2, "old"))
	opts := Options(t, indexer.Beside(name), indexer.Whole)
	d := &opts.Documents[0]
	d.Key, d.Every, d.Time = partedKey(t), indexer.Month, "at"
	rebuilt := openWriter(t, e, opts)
	mustWrite(t, rebuilt, scan(11, "a", 1, "new"), scan(11, "c", 3, "new"))
	former, err := again.Behind(deadline(t), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Promote(deadline(t), name); err != nil {
		t.Fatal(err)
	}
	have, err := e.Mapping(deadline(t), name)
	if err != nil || have.Every != indexer.Month {
		t.Errorf("the index is kept %v, error %v", have.Every, err)
	}
	mustWrite(t, w, scan(12, "d", 3, "later"), scan(12, "e", 2, "later"), scan(12, "f", 4, "later"))
	refresh(t, e, name)
	page, err := e.Search(deadline(t), search.Query{Index: name})
	var found []string
	for _, h := range page.Hits {
		found = append(found, fmt.Sprintf("%c=%v", h.Row[0], h.Fields["status"]))
	}
	if got := strings.Join(found, " "); err != nil || got != "a=new c=new d=later e=later f=later" {
		t.Errorf("found are %s, error %v", got, err)
	}
	if err := again.Drop(deadline(t), former); err != nil {
		t.Error(err)
	}
}
