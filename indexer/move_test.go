package indexer_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// TestMovedDocuments checks that a document that a change has left is hidden, whatever the order of changes, and that an older change does
// not bring it back, but a newer one does.
func TestMovedDocuments(t *testing.T) {
	from := func(former string, ev event.Event) event.Event {
		ev.Former = slices.Clone(ev.Values)
		ev.Former[0] = event.Value{}
		if former != "" {
			ev.Former[0] = event.TextValue(former)
		}
		return ev
	}
	created := indexertest.Event(1, "a", "created")
	moved := from("a", indexertest.Event(2, "b", "moved"))
	back := from("b", indexertest.Event(4, "a", "back"))
	paid := from("a", indexertest.Event(3, "a", "paid")) // arrives late, and is older than back
	tombstone := event.Event{Record: &event.Record{}, Values: make([]event.Value, len(created.Values)), LeftOut: event.Tombstone}
	for _, c := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"a move", []event.Event{created, moved, tombstone}, `a@2 {"_row":"a","_ver":2,"deleted":true}, b@2 {"_row":"b","_ver":2,"status":"moved"}`},
		{"the other way round", []event.Event{moved, created}, `a@2 {"_row":"a","_ver":2,"deleted":true}, b@2 {"_row":"b","_ver":2,"status":"moved"}`},
		{"there and back", []event.Event{back, paid, moved, created, back}, `a@4 {"_row":"a","_ver":4,"status":"back"}, b@4 {"_row":"b","_ver":4,"deleted":true}`},
		{"from nowhere", []event.Event{from("", indexertest.Event(2, "b", "moved"))}, `b@2 {"_row":"b","_ver":2,"status":"moved"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			engine := newMemory()
			w, err := indexer.New(engine, indexertest.Options(t, "orders", indexer.Whole))
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for n := range c.events { // each alone, then all together
				batch := &event.Batch{Events: slices.Clone(c.events[n : n+1])}
				if n == len(c.events)-1 {
					batch.Events = slices.Clone(c.events)
				}
				if failures, err := event.Settle(t.Context(), w.Submit(t.Context(), batch)); err != nil || len(failures) > 0 {
					t.Fatal(failures, err)
				}
			}
			var got []string
			for _, id := range slices.Sorted(maps.Keys(engine.docs)) {
				d := engine.docs[id]
				got = append(got, fmt.Sprintf("%s@%d %s", strings.TrimPrefix(id, "orders/"), d.version, d.source))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("\ngot  %s\nwant %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}
