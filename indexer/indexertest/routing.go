package indexertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/indexer"
	"brine/rowkey"
	"brine/search"
)

// routingTests test indexes whose documents are placed on shards by one of their fields. They also hold on an engine without shards.
var routingTests = []test{
	{"RoutingWriter", testRoutingWriter},
	{"RoutingPurge", testRoutingPurge},
	{"RoutingMapping", testRoutingMapping},
	{"RoutingRebuild", testRoutingRebuild},
	{"RoutingParts", testRoutingParts},
	{"RoutingLongKeys", testRoutingLongKeys},
}

// RunRouting runs those tests that need several shards: a document on a wrong shard is found twice, or not at all.
func RunRouting(t *testing.T, open Open) {
	for _, c := range routingTests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}

// routedOptions declare documents that are routed by their status, with which the key begins.
func routedOptions(t *testing.T, name string, changes indexer.Changes) indexer.Options {
	t.Helper()
	key, err := rowkey.Parse(`md5(status, 2) + status + "|" + order + "|" + asc(at, ms)`,
		[]rowkey.Field{{Name: "status", Type: rowkey.Text}, {Name: "order", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}})
	if err != nil {
		t.Fatal(err)
	}
	opts := Options(t, name, changes)
	opts.Documents[0].Key, opts.Documents[0].Routing = key, "status"
	return opts
}

// statuses are awkward in a URL, a list or a JSON text.
var statuses = []string{"paid", "a,b", "a", "b", "", " ", "%", "空/?&=#", `"\`, "true", "routing=x,y"}

const ordersOfStatus = 7

// routed returns changes of all orders of all statuses.
func routed(version int64, number int) (events []event.Event) {
	for _, status := range statuses {
		for i := range ordersOfStatus {
			events = append(events, Event(version, fmt.Sprint("o", i), status, "green tea", number, nil, false, 1_700_000_000_000))
		}
	}
	return events
}

// testRoutingWriter checks that each document exists once, and is found by a search for all, by its status, and by its id.
func testRoutingWriter(t *testing.T, e indexer.Engine) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		opts := routedOptions(t, newName(), changes)
		w, name := openWriter(t, e, opts), opts.Documents[0].Index
		mustWrite(t, w, routed(10, 1)...)
		mustWrite(t, w, routed(12, 2)...)
		mustWrite(t, openWriter(t, e, opts), routed(11, 3)...) // by a writer that has written nothing yet
		refresh(t, e, name)
		checkRouted(t, e, name, 2)
	}
}

// checkRouted checks that every document of routed exists once, with a number.
func checkRouted(t *testing.T, e indexer.Engine, name string, number int64) {
	t.Helper()
	all := search.Query{Index: name, Count: true, Size: 5, Sort: []search.Order{{Field: "number"}}}
	page, err := e.Search(deadline(t), all)
	if found := collect(t, e, all); err != nil || int(page.Total) != ordersOfStatus*len(statuses) || len(found) != int(page.Total) {
		t.Errorf("%d documents by count, %d by pages, error %v", page.Total, len(found), err)
	}
	for i, status := range statuses {
		by := all
		by.Filter = []search.Clause{search.Term{Field: "status", Value: status}, search.Term{Field: "number", Value: number}}
		by.Facets = []search.Facet{{Field: "status"}}
		page, err := e.Search(deadline(t), by)
		if err != nil || page.Total != ordersOfStatus || len(page.Facets[0]) != 1 ||
			page.Facets[0][0] != (search.Count{Value: status, N: ordersOfStatus}) {
			t.Errorf("status %q: %d documents, facets %v, error %v", status, page.Total, page.Facets, err)
		}
		found := collect(t, e, by)
		if slices.Sort(found); len(slices.Compact(found)) != ordersOfStatus {
			t.Errorf("status %q: pages give %q", status, found)
		}
		by.Filter = []search.Clause{search.Terms{Field: "status", Values: []any{status, statuses[(i+3)%len(statuses)], "absent"}}}
		if page, err := e.Search(deadline(t), by); err != nil || page.Total != 2*ordersOfStatus {
			t.Errorf("of two statuses: %d documents, error %v", page.Total, err)
		}
		by.Filter, by.MustNot = nil, []search.Clause{search.Term{Field: "status", Value: status}}
		if page, err := e.Search(deadline(t), by); err != nil || int(page.Total) != ordersOfStatus*(len(statuses)-1) {
			t.Errorf("of the others: %d documents, error %v", page.Total, err)
		}
		for _, row := range found {
			id := indexer.AppendID(nil, []byte(row))
			if !get(t, e, name, string(id)).Found {
				t.Errorf("document %s is not found by its id", id)
			}
			if version, err := e.Shown(deadline(t), indexer.Ref{Index: name, ID: id}); err != nil || version < 0 {
				t.Errorf("document %s is shown with version %d, error %v", id, version, err)
			}
		}
	}
}

// testRoutingPurge checks that what is removed, by its age or by its id, is removed from its shard.
func testRoutingPurge(t *testing.T, e indexer.Engine) {
	opts := routedOptions(t, newName(), indexer.Whole)
	w, name := openWriter(t, e, opts), opts.Documents[0].Index
	mustWrite(t, w, routed(10, 1)...)
	gone := routed(11, 1)[:3*ordersOfStatus]
	for i := range gone {
		gone[i].Values[5] = event.BoolValue(true)
	}
	mustWrite(t, w, gone...)
	for _, want := range []int{len(gone), 0} {
		if n, err := e.Purge(deadline(t), name, 12); err != nil || n != want {
			t.Errorf("%d were removed, error %v; want %d", n, err, want)
		}
	}
	refresh(t, e, name)
	if left := collect(t, e, search.Query{Index: name, Deleted: true}); len(left) != ordersOfStatus*(len(statuses)-3) {
		t.Errorf("left are %q", left)
	}
	row := rows(t, e, search.Query{Index: name, Size: 1, Filter: []search.Clause{search.Term{Field: "status", Value: "true"}}})
	id := indexer.AppendID(nil, []byte(row))
	doc := get(t, e, name, string(id))
	remove := indexer.Op{Kind: indexer.Delete, Index: name, ID: id, SeqNo: doc.SeqNo, PrimaryTerm: doc.PrimaryTerm}
	if got := bulk(t, e, remove); got[0] != 200 || get(t, e, name, string(id)).Found {
		t.Errorf("document %s: status %d", id, got[0])
	}
}

// testRoutingMapping checks that the routing of an index is stored with it, also when fields are added, and is not changed in place.
func testRoutingMapping(t *testing.T, e indexer.Engine) {
	opts := routedOptions(t, newName(), indexer.Whole)
	m := opts.Mappings()[0]
	more := m
	more.Fields = append(slices.Clone(m.Fields), indexer.Field{Name: "more", Type: indexer.Keyword})
	for _, want := range []indexer.Mapping{m, more, more} {
		if err := e.EnsureIndex(deadline(t), want); err != nil {
			t.Fatal(err)
		}
		have, err := e.Mapping(deadline(t), m.Index)
		if err != nil || have.Routing != nil && !have.Routing.Same(m.Routing) || len(have.Fields) != len(want.Fields) {
			t.Errorf("routed %v, error %v; want %v", have.Routing, err, m.Routing)
		}
		if have.Routing == nil {
			t.Skip("its indexes have no shards")
		}
	}
	if got := bulk(t, e, put(m.Index, "a", 1, "")); got[0] != 400 {
		t.Errorf("an id that says nothing of the routing: status %d", got[0])
	}
	plain := m
	plain.Routing = nil
	if err := e.EnsureIndex(deadline(t), plain); err == nil || !strings.Contains(err.Error(), "is routed by status") {
		t.Errorf("without its routing: error %v", err)
	}
	plain.Index = newIndex(t, e)
	m.Index = plain.Index
	if err := e.EnsureIndex(deadline(t), m); err == nil || !strings.Contains(err.Error(), "brine reindex") {
		t.Errorf("of one that has none: error %v", err)
	}
}

// testRoutingRebuild checks that an index gets its routing when it is rebuilt, while a writer continues, and that an index with a routing
// never gets another.
func testRoutingRebuild(t *testing.T, e indexer.Engine) {
	again := e.(indexer.Rebuilder)
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		opts := routedOptions(t, newName(), changes)
		name := opts.Documents[0].Index
		m := opts.Mappings()[0]
		m.Routing = nil
		if err := e.EnsureIndex(deadline(t), m); err != nil {
			t.Fatal(err)
		}
		w := writerOf(t, e, opts)
		mustWrite(t, w, routed(10, 1)...)
		opts.Documents[0].Index = indexer.Beside(name)
		mustWrite(t, openWriter(t, e, opts), routed(10, 1)...)
		if err := again.Promote(deadline(t), name); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, w, routed(11, 2)...)
		mustWrite(t, w, routed(9, 3)...)
		refresh(t, e, name)
		checkRouted(t, e, name, 2)
		m.Index = indexer.Beside(name)
		if err := e.EnsureIndex(deadline(t), m); err != nil {
			t.Fatal(err)
		}
		have, err := e.Mapping(deadline(t), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Promote(deadline(t), name); have.Routing != nil && (err == nil || !strings.Contains(err.Error(), "on two shards")) {
			t.Errorf("one without the routing takes its place: error %v", err)
		}
	}
}

// testRoutingParts checks that parts are routed like their index, even if a part is created by a configuration without the routing.
func testRoutingParts(t *testing.T, e indexer.Engine) {
	opts := routedOptions(t, newName(), indexer.Partial)
	name := opts.Documents[0].Index
	opts.Documents[0].Every, opts.Documents[0].Time = indexer.Month, "at"
	w := openWriter(t, e, opts)
	opts.Documents[0].Routing = ""
	former := writerOf(t, e, opts)
	for month, w := range map[int]*indexer.Writer{1: w, 2: former, 3: w} {
		for version := int64(10); version < 12; version++ {
			mustWrite(t, w, scan(version, "o1", month, "a,b"), scan(version, "o2", month, "paid"))
		}
	}
	refresh(t, e, name)
	for status, want := range map[string]int64{"a,b": 3, "paid": 3, "none": 0} {
		page, err := e.Search(deadline(t), search.Query{Index: name, Count: true,
			Filter: []search.Clause{search.Term{Field: "status", Value: status}}})
		if err != nil || page.Total != want {
			t.Errorf("status %s: %d documents, error %v; want %d", status, page.Total, err, want)
		}
		for _, h := range page.Hits {
			if id := indexer.AppendID(nil, h.Row); !get(t, e, name, string(id)).Found {
				t.Errorf("document %s is not found by its id", id)
			}
		}
	}
	if got := collect(t, e, search.Query{Index: name, Size: 2}); len(got) != 6 {
		t.Errorf("found are %q", got)
	}
}

// testRoutingLongKeys checks that a row key that is too long to be an id is the document's fault, because it does not determine the shard.
func testRoutingLongKeys(t *testing.T, e indexer.Engine) {
	opts := routedOptions(t, newName(), indexer.Whole)
	w := openWriter(t, e, opts)
	have, err := e.Mapping(deadline(t), opts.Documents[0].Index)
	if err != nil {
		t.Fatal(err)
	}
	long := Event(1, strings.Repeat("x", 600), "paid", nil, nil, nil, nil, 1_700_000_000_000)
	failures := write(t, w, long, routed(1, 1)[0])
	if have.Routing == nil {
		if len(failures) > 0 {
			t.Errorf("failures %v", failures)
		}
		return
	}
	if len(failures) != 1 || failures[0].Index != 0 || failures[0].Verdict != event.Reject ||
		!strings.Contains(failures[0].Err.Error(), "too long for an id") {
		t.Errorf("failures %v", failures)
	}
}
