package indexertest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"brine/indexer"
	"brine/search"
)

func testMapping(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	want := mapping(name)
	for range 2 { // the second time there is nothing to do
		if err := e.EnsureIndex(deadline(t), want); err != nil {
			t.Fatal(err)
		}
	}
	have, err := e.Mapping(deadline(t), name)
	for i := range have.Fields {
		have.Fields[i].Analyzer = "" // each engine has its own
	}
	if err != nil || !slices.Equal(have.Fields, want.Fields) || have.Uneven != nil {
		t.Fatalf("mapping %v, error %v; want %v", have.Fields, err, want.Fields)
	}
	more := indexer.Mapping{Index: name, Fields: []indexer.Field{{Name: "brand", Type: indexer.Keyword}, {Name: "at", Type: indexer.Date}}}
	if err := e.EnsureIndex(deadline(t), more); err != nil {
		t.Fatal(err)
	}
	load(t, e, put(name, "a", 1, `"brand":"x","number":7`))
	page, err := e.Search(deadline(t), search.Query{Index: name, Filter: []search.Clause{search.Term{Field: "brand", Value: "x"}}})
	if err != nil || len(page.Hits) != 1 || page.Hits[0].Fields["number"] != int64(7) {
		t.Fatalf("by the added field: %v, error %v", page.Hits, err)
	}
}

func testMappingConflict(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	err := e.EnsureIndex(deadline(t), indexer.Mapping{Index: name, Fields: []indexer.Field{
		{Name: "at", Type: indexer.Long}, {Name: "fresh", Type: indexer.Long}, {Name: "status", Type: indexer.Text},
	}})
	var conflict *indexer.MappingError
	if !errors.As(err, &conflict) {
		t.Fatalf("error %v", err)
	}
	want := []indexer.FieldConflict{{Name: "at", Want: indexer.Long, Have: indexer.Date},
		{Name: "status", Want: indexer.Text, Have: indexer.Keyword}}
	if !slices.Equal(conflict.Fields, want) || conflict.Index != name {
		t.Fatalf("conflicts %v, want %v", conflict.Fields, want)
	}
	if have, err := e.Mapping(deadline(t), name); err != nil || have.Type("fresh") != "" {
		t.Fatalf("a refused change was half made: %v, error %v", have, err)
	}
}

func testNoIndex(t *testing.T, e indexer.Engine) {
	name := newName()
	if _, err := e.Mapping(deadline(t), name); !errors.Is(err, search.ErrNoIndex) {
		t.Errorf("mapping: error %v", err)
	}
	if _, err := e.Search(deadline(t), search.Query{Index: name}); !errors.Is(err, search.ErrNoIndex) {
		t.Errorf("search: error %v", err)
	}
	other := newIndex(t, e)
	if got := bulk(t, e, put(name, "a", 1, ""), put(other, "a", 1, "")); !slices.Equal(got, []int{404, 201}) {
		t.Errorf("statuses %v", got)
	}
	if _, err := e.Mapping(deadline(t), name); !errors.Is(err, search.ErrNoIndex) {
		t.Errorf("a write has made an index: error %v", err)
	}
	if doc := get(t, e, name, "a"); doc.Found {
		t.Error("found a document of no index")
	}
	if err := e.EnsureIndex(deadline(t), indexer.Mapping{Index: "../Up"}); err == nil || !strings.Contains(err.Error(), "lower-case") {
		t.Errorf("bad name: error %v", err)
	}
}

func testPut(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	for _, c := range []struct {
		version int64
		number  string
		status  int
		want    string // the number afterwards
	}{
		{10, "1", 201, "1"},
		{9, "2", 409, "1"},  // stale
		{10, "3", 200, "3"}, // equal: the last applied wins
		{1 << 62, "4", 200, "4"},
		{11, "5", 409, "4"},
	} {
		if got := bulk(t, e, put(name, "a", c.version, `"number":`+c.number)); got[0] != c.status {
			t.Errorf("version %d: status %d, want %d", c.version, got[0], c.status)
		}
		if doc := get(t, e, name, "a"); !doc.Found || !strings.Contains(string(doc.Source), `"number":`+c.want) {
			t.Errorf("version %d: document %s, want number %s", c.version, doc.Source, c.want)
		}
	}
}

func testReplace(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	create := indexer.Op{Kind: indexer.Create, Index: name, ID: []byte("a"), Source: source("a", 1, `"number":1`)}
	if got := bulk(t, e, create); got[0] != 201 {
		t.Fatalf("create: status %d", got[0])
	}
	if got := bulk(t, e, create); got[0] != 409 {
		t.Fatalf("create again: status %d", got[0])
	}
	read := get(t, e, name, "a")
	replace := indexer.Op{
		Kind: indexer.Replace, Index: name, ID: []byte("a"), Source: source("a", 2, `"number":2`),
		SeqNo: read.SeqNo, PrimaryTerm: read.PrimaryTerm,
	}
	if got := bulk(t, e, replace); got[0] != 200 {
		t.Fatalf("replace: status %d", got[0])
	}
	if got := bulk(t, e, replace); got[0] != 409 {
		t.Fatalf("replace what has changed: status %d", got[0])
	}
	replace.ID = []byte("absent")
	if got := bulk(t, e, replace); got[0] != 409 {
		t.Fatalf("replace what is not there: status %d", got[0])
	}
	if doc := get(t, e, name, "a"); !strings.Contains(string(doc.Source), `"number":2`) {
		t.Fatalf("document %s", doc.Source)
	}
}

func testRefused(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	got := bulk(t, e,
		put(name, "a", 1, `"number":1`),
		put(name, "b", 1, `"number":"many"`),
		put(name, "c", 1, `"unknown":1`),
		put(name, "d", 1, `"gift":"perhaps"`),
		put(name, "e", 1, `"status":"`+strings.Repeat("x", 40_000)+`"`),
		put(name, "f", 1, `"at":{"x":1}`),
		put(name, "g", 1, `"number":null`),
	)
	if want := []int{201, 400, 400, 400, 400, 400, 201}; !slices.Equal(got, want) {
		t.Fatalf("statuses %v, want %v", got, want)
	}
	for _, id := range []string{"b", "c", "d", "e", "f"} {
		if get(t, e, name, id).Found {
			t.Errorf("document %s was refused, and is there", id)
		}
	}
}

func testOrderInOneCall(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	var ops []indexer.Op
	for i, version := range []int64{5, 3, 5, 7, 6, 7} {
		ops = append(ops, put(name, "a", version, `"number":`+string(rune('0'+i))))
	}
	if got, want := bulk(t, e, ops...), []int{201, 409, 200, 200, 409, 200}; !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
	if doc := get(t, e, name, "a"); !strings.Contains(string(doc.Source), `"number":5`) {
		t.Errorf("document %s, want the sixth", doc.Source)
	}
}
