package indexertest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/rowkey"
	"brine/search"
)

// partedWriter returns a writer into an index with one part for each month of the field at, which is part of the row key.
func partedWriter(t *testing.T, e indexer.Engine, changes indexer.Changes, keep time.Duration) (*indexer.Writer, string) {
	t.Helper()
	name := newName()
	opts := Options(t, name, changes)
	d := &opts.Documents[0]
	d.Key, d.Every, d.Time, d.Keep = partedKey(t), indexer.Month, "at", keep
	return openWriter(t, e, opts), name
}

func partedKey(t *testing.T) *rowkey.Key {
	t.Helper()
	key, err := rowkey.Parse(`order + "|" + asc(at, ms)`, []rowkey.Field{{Name: "order", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// scan returns a change of a document of a month of 2024, with a record of that time.
func scan(version int64, order string, month int, status any) event.Event {
	at := time.Date(2024, time.Month(month), 15, 0, 0, 0, 0, time.UTC).UnixMilli()
	ev := Event(version, order, status, nil, nil, nil, nil, int(at))
	ev.Record = &event.Record{Timestamp: at}
	return ev
}

// testWriterParts checks that parts are created when documents for them arrive, and are read as one index.
func testWriterParts(t *testing.T, e indexer.Engine) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		w, name := partedWriter(t, e, changes, 0)
		for every, ok := range map[indexer.Every]bool{indexer.Month: true, indexer.Day: false, "": false} {
			m := mapping(name)
			m.Fields, m.Every = m.Fields[:1], every
			if err := e.EnsureIndex(deadline(t), m); (err == nil) != ok {
				t.Errorf("%s: declared to be kept %v: error %v", changes, every, err)
			}
		}
		var events []event.Event
		for i := range 12 {
			events = append(events, scan(10, fmt.Sprint("o", i%4), 1+i/4, "first"))
		}
		mustWrite(t, w, events...)
		mustWrite(t, w, scan(11, "o0", 2, "newer"), scan(9, "o0", 3, "older"), scan(10, "o1", 3, "tie"))
		refresh(t, e, name)
		q := search.Query{Index: name, Count: true, Sort: []search.Order{{Field: "at", Desc: true}}, Size: 5,
			Facets: []search.Facet{{Field: "status"}}}
		page, err := e.Search(deadline(t), q)
		if err != nil || page.Total != 12 || fmt.Sprint(page.Facets) != "[[{first 10} {newer 1} {tie 1}]]" {
			t.Fatalf("%s: %d documents, facets %v, error %v", changes, page.Total, page.Facets, err)
		}
		if got := collect(t, e, q); len(got) != 12 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != 12 {
			t.Errorf("%s: pages over the parts give %q", changes, got)
		}
		refs, docs := []indexer.Ref{{Index: name, ID: []byte("absent")}}, make([]indexer.Stored, len(page.Hits)+1)
		for _, h := range page.Hits {
			refs = append(refs, indexer.Ref{Index: name, ID: indexer.AppendRowText(nil, h.Row)})
		}
		if err := e.Get(deadline(t), refs, docs); err != nil || docs[0].Found ||
			slices.ContainsFunc(docs[1:], func(d indexer.Stored) bool { return !d.Found }) {
			t.Errorf("%s: by the index's name: %v, error %v", changes, docs, err)
		}
		ahead := scan(10, "o9", 9, "x")
		ahead.Record.Timestamp -= 2 * 24 * 3600 * 1000
		if got := write(t, w, ahead); len(got) != 1 || got[0].Verdict != event.Reject || got[0].Reason != event.FutureVersion {
			t.Errorf("%s: a time two days ahead of its record: %v", changes, got)
		}
	}
}

// testPartsAlike checks that an index lacks a field if one of its parts lacks it, and that EnsureIndex adds it to all.
func testPartsAlike(t *testing.T, e indexer.Engine) {
	parts, ok := e.(indexer.Partitioned)
	if !ok {
		t.Skip("its indexes have no parts")
	}
	m := mapping(newName())
	m.Every = indexer.Month
	few := m
	few.Fields = m.Fields[:2]
	now := indexer.Month.Part(m.Index, time.Now().UnixMilli())
	if err := e.EnsureIndex(deadline(t), few); err != nil {
		t.Fatal(err)
	}
	if err := parts.EnsurePart(deadline(t), few, now); err != nil { // it exists, unless a month has begun since
		t.Fatal(err)
	}
	if err := parts.EnsurePart(deadline(t), m, m.Index+"-2024.01"); err != nil {
		t.Fatal(err)
	}
	have, err := e.Mapping(deadline(t), m.Index)
	if err != nil {
		t.Fatal(err)
	}
	if missing, err := m.Missing(have); err != nil || !slices.Equal(missing, m.Fields[2:]) {
		t.Errorf("missing are %v, error %v; want %v", missing, err, m.Fields[2:])
	}
	if err := e.EnsureIndex(deadline(t), m); err != nil {
		t.Fatal(err)
	}
	if got := bulk(t, e, put(m.Index+"-2024.01", "a", 1, `"status":"x"`),
		put(now, "b", 1, `"status":"x"`)); !slices.Equal(got, []int{201, 201}) {
		t.Errorf("statuses %v", got)
	}
	if have, err = e.Mapping(deadline(t), m.Index); err != nil || have.Uneven != nil {
		t.Errorf("not alike are %v, error %v", have.Uneven, err)
	}
}

// testExpire checks that a part is dropped when its newest document is too old, and not before, and that a later write creates it again.
func testExpire(t *testing.T, e indexer.Engine) {
	parts, ok := e.(indexer.Partitioned)
	if !ok {
		t.Skip("its indexes have no parts")
	}
	w, name := partedWriter(t, e, indexer.Whole, 0)
	mustWrite(t, w, scan(10, "a", 1, "x"), scan(20, "b", 1, "x"), scan(15, "c", 2, "x"), scan(30, "d", 3, "x"))
	dropped, err := parts.Expire(deadline(t), name, 20)
	if err != nil {
		t.Fatal(err)
	}
	if dropped == nil {
		t.Skip("it drops nothing")
	}
	if want := []string{name + "-2024.02-000001"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
	mustWrite(t, w, scan(31, "e", 2, "x"))
	if again, err := parts.Expire(context.Background(), name, 21); err != nil || !slices.Equal(again, []string{name + "-2024.01-000001"}) {
		t.Errorf("then dropped %q, error %v", again, err)
	}
	refresh(t, e, name)
	page, err := e.Search(deadline(t), search.Query{Index: name, Sort: []search.Order{{Field: "at"}}})
	if err != nil || len(page.Hits) != 2 || page.Hits[0].Version != 31 || page.Hits[1].Version != 30 {
		t.Errorf("left are %v, error %v", page.Hits, err)
	}
}
