package verify_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
)

// TestRowAndDocumentEndEqual writes random sequences of changes of a few orders, with few versions so that there are many ties, repeated,
// shuffled and cut into random batches, as rows and as documents. Each row and its document must end with the same fields in the same
// versions. It runs with changes that carry every field, and with changes that carry some.
func TestRowAndDocumentEndEqual(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]struct {
		hbase   cluster
		indexed func(*world, indexer.Changes)
		rounds  int
	}{
		"embedded": {embeddedHBase, searchServers["embedded"], 15},
		"real":     {realHBase, searchServers["elasticsearch"], 6},
	} {
		for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
			t.Run(name+"/"+string(changes), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, to.hbase)
				to.indexed(w, changes)
				w.ensure()
				docs, err := indexer.New(w.engine, *w.docs)
				if err != nil {
					t.Fatal(err)
				}
				defer docs.Close()
				rows := w.sink()
				for round := range to.rounds {
					random := rand.New(rand.NewPCG(uint64(round), 9))
					events := sequence(random, fmt.Sprintf("r%02d-", round), changes)
					for rest := events; len(rest) > 0; {
						n := min(len(rest), 1+random.IntN(30))
						w.apply(rows, rest[:n])
						w.apply(docs, rest[:n])
						rest = rest[n:]
					}
					ids := map[string]bool{}
					for i := range events {
						ids[string(events[i].Values[0].Text())] = true
					}
					for id := range ids {
						if row, document := w.rowFields(id), w.documentFields(id); !maps.Equal(row, document) || len(row) == 0 {
							t.Fatalf("round %d: row %s is %v\nits document %v", round, id, row, document)
						}
					}
				}
			})
		}
	}
}

// sequence returns some changes of a few orders.
func sequence(random *rand.Rand, prefix string, changes indexer.Changes) (events []event.Event) {
	for i := range 80 {
		ev := event.Event{Record: &event.Record{}, Version: base.UnixMilli() + random.Int64N(6), Values: make([]event.Value, len(orders.Fields))}
		ev.Values[0] = event.TextValue(fmt.Sprint(prefix, random.IntN(5)))
		for _, field := range []int{2, 3} {
			if changes == indexer.Whole || random.IntN(2) == 0 {
				ev.Values[field] = event.TextValue(fmt.Sprintf("v%d", i))
			}
		}
		events = append(events, ev)
	}
	for range 40 {
		events = slices.Insert(events, random.IntN(len(events)), events[random.IntN(len(events))])
	}
	random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	return events
}

// apply writes a batch, all of which must be durable.
func (w *world) apply(to event.Writer, events []event.Event) {
	w.t.Helper()
	if failures, err := event.Settle(w.t.Context(), to.Submit(w.t.Context(), &event.Batch{Events: events})); err != nil || len(failures) > 0 {
		w.t.Fatal(failures, err)
	}
}

// rowFields returns the cells of a row without its mark, as field@version=value.
func (w *world) rowFields(id string) map[string]string {
	w.t.Helper()
	r, err := w.client.Get(w.t.Context(), w.table, hbase.Get{Row: []byte(id)})
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range r.Cells {
		if len(c.Qualifier) > 0 {
			out[string(c.Qualifier)] = fmt.Sprintf("%s@%d", c.Value, c.Timestamp)
		}
	}
	return out
}

func (w *world) documentFields(id string) map[string]string {
	w.t.Helper()
	docs := make([]indexer.Stored, 1)
	if err := w.engine.Get(w.t.Context(), []indexer.Ref{{Index: w.docs.Documents[0].Index, ID: []byte(id)}}, docs); err != nil {
		w.t.Fatal(err)
	}
	out := map[string]string{}
	if !docs[0].Found {
		return out
	}
	fields, err := indexer.Fields(docs[0].Source)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range fields {
		var value string
		if err := json.Unmarshal(f.JSON, &value); err != nil {
			w.t.Fatal(err)
		}
		out[f.Name] = fmt.Sprintf("%s@%d", value, f.Version)
	}
	return out
}
