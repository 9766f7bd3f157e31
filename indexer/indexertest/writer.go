package indexertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/event"
	"brine/indexer"
	"brine/rowkey"
	"brine/search"
)

// Schema is the schema of these tests' events.
var Schema = event.Schema{Version: -1, Fields: []event.Field{
	{Name: "order", Type: event.Text},
	{Name: "status", Type: event.Text},
	{Name: "item", Type: event.Text},
	{Name: "number", Type: event.Int},
	{Name: "amount", Type: event.Float},
	{Name: "gone", Type: event.Bool},
	{Name: "at", Type: event.TimeMS},
}}

// Options declare one document, with the order as its key.
func Options(t testing.TB, index string, changes indexer.Changes) indexer.Options {
	t.Helper()
	key, err := rowkey.Parse("order", []rowkey.Field{{Name: "order", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	return indexer.Options{Schema: Schema, Documents: []indexer.Document{{
		Index: index, Key: key, Changes: changes, Deleted: "gone",
		Set: []indexer.Column{
			{Name: "status", Field: "status"}, {Name: "item", Field: "item", Type: indexer.Text},
			{Name: "number", Field: "number"}, {Name: "amount", Field: "amount"}, {Name: "at", Field: "at"},
		},
	}}}
}

// Event returns an event of Schema; values are in the order of its fields, nil for null.
func Event(version int64, values ...any) event.Event {
	ev := event.Event{Record: &event.Record{}, Version: version, Values: make([]event.Value, len(Schema.Fields))}
	for i, v := range values {
		switch v := v.(type) {
		case string:
			ev.Values[i] = event.TextValue(v)
		case int:
			ev.Values[i] = event.IntValue(int64(v))
			if Schema.Fields[i].Type == event.TimeMS {
				ev.Values[i] = event.TimeValue(int64(v))
			}
		case float64:
			ev.Values[i] = event.FloatValue(v)
		case bool:
			ev.Values[i] = event.BoolValue(v)
		}
	}
	return ev
}

func newWriter(t *testing.T, e indexer.Engine, changes indexer.Changes) (*indexer.Writer, string) {
	t.Helper()
	name := newName()
	return openWriter(t, e, Options(t, name, changes)), name
}

// openWriter creates the indexes of the options, and returns a writer into them.
func openWriter(t *testing.T, e indexer.Engine, opts indexer.Options) *indexer.Writer {
	t.Helper()
	for _, m := range opts.Mappings() {
		if err := e.EnsureIndex(deadline(t), m); err != nil {
			t.Fatal(err)
		}
	}
	return writerOf(t, e, opts)
}

// writerOf returns a writer into indexes that may not exist.
func writerOf(t *testing.T, e indexer.Engine, opts indexer.Options) *indexer.Writer {
	t.Helper()
	w, err := indexer.New(e, opts)
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, w)
	return w
}

func closeAfter(t *testing.T, w *indexer.Writer) {
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// write submits events and waits for them.
func write(t *testing.T, w *indexer.Writer, events ...event.Event) []event.Failure {
	t.Helper()
	failures, err := event.Settle(deadline(t), w.Submit(deadline(t), &event.Batch{Events: events}))
	if err != nil {
		t.Fatal(err)
	}
	return failures
}

func mustWrite(t *testing.T, w *indexer.Writer, events ...event.Event) {
	t.Helper()
	if failures := write(t, w, events...); len(failures) > 0 {
		t.Fatalf("%d failures: %v", len(failures), failures[0].Err)
	}
}

// document returns the fields of a document, without those that brine adds, as JSON with sorted keys.
func document(t *testing.T, e indexer.Engine, index, id string) string {
	t.Helper()
	doc := get(t, e, index, id)
	if !doc.Found {
		return "none"
	}
	var fields map[string]any
	if err := json.Unmarshal(doc.Source, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{indexer.FieldRow, indexer.FieldKey, indexer.FieldVersions} {
		delete(fields, name)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func checkDocument(t *testing.T, e indexer.Engine, index, id, want string) {
	t.Helper()
	if got := document(t, e, index, id); got != want {
		t.Errorf("document %s: %s, want %s", id, got, want)
	}
}

func testWriterWhole(t *testing.T, e indexer.Engine) {
	w, name := newWriter(t, e, indexer.Whole)
	mustWrite(t, w,
		Event(5, "a", "paid", nil, 1),
		Event(5, "b", "paid", "tea \"x\"\n\u0001é中", 9007199254740993, 2.0, nil, 1700000000000),
		Event(7, "a", "shipped"),
		Event(6, "a", "late"),
		Event(7, "a", "tie", nil, 3),
	)
	checkDocument(t, e, name, "a", `{"_ver":7,"number":3,"status":"tie"}`)
	refresh(t, e, name)
	page, err := e.Search(deadline(t), search.Query{Index: name,
		Filter: []search.Clause{search.Term{Field: "number", Value: int64(9007199254740993)}}})
	if err != nil || len(page.Hits) != 1 {
		t.Fatalf("%d hits, error %v", len(page.Hits), err)
	}
	hit := page.Hits[0]
	if f := hit.Fields; string(hit.Row) != "b" || hit.Version != 5 || f["item"] != "tea \"x\"\n\u0001é中" || f["amount"] != 2.0 ||
		f["at"] != int64(1700000000000) {
		t.Errorf("hit %+v", hit)
	}
	mustWrite(t, w, Event(6, "a", "older"))
	mustWrite(t, w, Event(7, "a", "tie again"))
	checkDocument(t, e, name, "a", `{"_ver":7,"status":"tie again"}`)
	if got := write(t, w, Event(1, nil, "x"), Event(1, "c", "x")); len(got) != 1 || got[0].Index != 0 || got[0].Verdict != event.Reject ||
		got[0].Reason != event.MissingField {
		t.Errorf("no key: %+v", got)
	}
}

func testWriterPartial(t *testing.T, e indexer.Engine) {
	w, name := newWriter(t, e, indexer.Partial)
	mustWrite(t, w, Event(10, "a", "created", "apple", 1), Event(20, "a", "paid"), Event(15, "a", "late", nil, 2))
	checkDocument(t, e, name, "a", `{"_ver":20,"item":"apple","number":2,"status":"paid"}`)
	mustWrite(t, w, Event(12, "a", nil, "pear", 3))
	checkDocument(t, e, name, "a", `{"_ver":20,"item":"pear","number":2,"status":"paid"}`)
	mustWrite(t, w, Event(20, "a", "tie"), Event(30, "b"))
	checkDocument(t, e, name, "a", `{"_ver":20,"item":"pear","number":2,"status":"tie"}`)
	checkDocument(t, e, name, "b", "none") // the change had no fields, and so has its row
}

// testWriterChangesOfChanges tests a pipeline whose changes were whole, with one more field, and are now partial.
func testWriterChangesOfChanges(t *testing.T, e indexer.Engine) {
	first, name := newWriter(t, e, indexer.Whole)
	mustWrite(t, first, Event(10, "a", "paid", "tea", 1, 1.5))
	opts := Options(t, name, indexer.Partial)
	opts.Documents[0].Set = opts.Documents[0].Set[:3] // no amount
	w := writerOf(t, e, opts)
	mustWrite(t, w, Event(9, "a", "late"), Event(11, "a", nil, "coffee"))
	checkDocument(t, e, name, "a", `{"_ver":11,"amount":1.5,"item":"coffee","number":1,"status":"paid"}`)
	mustWrite(t, w, Event(10, "a", "tie"))
	checkDocument(t, e, name, "a", `{"_ver":11,"amount":1.5,"item":"coffee","number":1,"status":"tie"}`)
}

// testWriterPartialOfTwo tests two writers of one document, as when a partition is reassigned while its former owner is still writing.
func testWriterPartialOfTwo(t *testing.T, e indexer.Engine) {
	w, name := newWriter(t, e, indexer.Partial)
	other := writerOf(t, e, Options(t, name, indexer.Partial))
	var flights []event.Flight
	for i := range 20 {
		flights = append(flights,
			w.Submit(deadline(t), &event.Batch{Events: []event.Event{Event(int64(100+i), "a", fmt.Sprint("w", i))}}),
			other.Submit(deadline(t), &event.Batch{Events: []event.Event{Event(int64(100+i), "a", nil, nil, i)}}))
	}
	for _, f := range flights {
		if failures, err := event.Settle(deadline(t), f); err != nil || len(failures) > 0 {
			t.Fatalf("failures %v, error %v", failures, err)
		}
	}
	checkDocument(t, e, name, "a", `{"_ver":119,"number":19,"status":"w19"}`)
}

func testWriterRefused(t *testing.T, e indexer.Engine) {
	tooLong := strings.Repeat("x", 40_000) // for a keyword
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		w, name := newWriter(t, e, changes)
		failures := write(t, w, Event(1, "a", "good"), Event(1, "b", tooLong), Event(1, "c", "good"),
			Event(2, "c", tooLong), Event(1, "d", "good"))
		if len(failures) != 2 || failures[0].Index != 1 || failures[1].Index != 3 {
			t.Fatalf("%s: failures %+v", changes, failures)
		}
		for _, f := range failures {
			// OpenSearch does not report that the document is at fault; its neighbours show it.
			if f.Verdict != event.Reject || f.Reason != event.MappingRefused && f.Reason != event.Refused {
				t.Errorf("%s: verdict %d, reason %s: %v", changes, f.Verdict, f.Reason, f.Err)
			}
		}
		checkDocument(t, e, name, "a", `{"_ver":1,"status":"good"}`)
		checkDocument(t, e, name, "b", "none")
		checkDocument(t, e, name, "c", `{"_ver":1,"status":"good"}`) // its other change was refused alone
		checkDocument(t, e, name, "d", `{"_ver":1,"status":"good"}`)
	}
}

func testWriterLongKeys(t *testing.T, e indexer.Engine) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		w, name := newWriter(t, e, changes)
		long := strings.Repeat("k", 511)
		orders := []string{long, long + "2", long + "23", strings.Repeat("中", 171), "\x00\x01\\x\"", strings.Repeat("z", 32_000)}
		for i, o := range orders {
			mustWrite(t, w, Event(1, o, fmt.Sprint("s", i)))
			mustWrite(t, w, Event(2, o, nil, nil, i))
		}
		refresh(t, e, name)
		page, err := e.Search(deadline(t), search.Query{Index: name})
		if err != nil || len(page.Hits) != len(orders) {
			t.Fatalf("%s: %d documents of %d rows, error %v", changes, len(page.Hits), len(orders), err)
		}
		seen := map[string]any{}
		for _, h := range page.Hits {
			seen[string(h.Row)] = h.Fields["number"]
		}
		for i, o := range orders {
			if seen[o] != int64(i) {
				t.Errorf("%s: row %.20q… has number %v, want %d", changes, o, seen[o], i)
			}
		}
	}
}

func testWriterDeletes(t *testing.T, e indexer.Engine) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		w, name := newWriter(t, e, changes)
		mustWrite(t, w, Event(1, "a", "x"), Event(2, "b", "x"), Event(3, "a", "x", nil, nil, nil, true),
			Event(2, "a", "late", nil, nil, nil, false))
		refresh(t, e, name)
		if got := rows(t, e, search.Query{Index: name}); got != "b" {
			t.Errorf("%s: %q, want b alone", changes, got)
		}
		if got := rows(t, e, search.Query{Index: name, Deleted: true}); got != "a b" {
			t.Errorf("%s: with the deleted: %q", changes, got)
		}
		mustWrite(t, w, Event(4, "a", "x", nil, nil, nil, false))
		refresh(t, e, name)
		if got := rows(t, e, search.Query{Index: name}); got != "a b" {
			t.Errorf("%s: taken back: %q", changes, got)
		}
	}
}

func testWriterNoIndex(t *testing.T, e indexer.Engine) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		name := newName()
		w := writerOf(t, e, Options(t, name, changes))
		failures := write(t, w, Event(1, "a", "x"), Event(1, "b", "x"))
		if len(failures) != 2 {
			t.Fatalf("%s: %d failures", changes, len(failures))
		}
		for _, f := range failures {
			if f.Verdict != event.Halt || f.Reason != event.NoTable || !strings.Contains(f.Err.Error(), "brine tables apply") {
				t.Errorf("%s: verdict %d, reason %s: %v", changes, f.Verdict, f.Reason, f.Err)
			}
		}
		if _, err := e.Mapping(deadline(t), name); !errors.Is(err, search.ErrNoIndex) {
			t.Errorf("%s: an index was made: %v", changes, err)
		}
	}
}
