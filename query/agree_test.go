package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	bleve "brine/indexer/embedded"
	"brine/query"
	"brine/rowkey"
	"brine/search"
	"brine/sink"
)

// both is a table of visits with an index of it, and their writers.
type both struct {
	*visitTable
	engine *bleve.Engine
	rows   *sink.Sink
	docs   *indexer.Writer
}

// TestWhatTheIndexFindsIsMarkedByItsRow writes random changes of a few visits, late, repeated and with ties, as rows and as documents. Each
// document that is found must agree with its row in every field, except where rows keep what a whole change has null. What is then written
// only as row or only as document must be marked.
func TestWhatTheIndexFindsIsMarkedByItsRow(t *testing.T) {
	onBoth(t, func(t *testing.T, client *hbase.Client) {
		for name, c := range map[string]struct {
			changes indexer.Changes
			nulls   sink.NullPolicy
		}{"partial": {indexer.Partial, sink.NullsMerge}, "merge": {indexer.Whole, sink.NullsMerge}, "delete": {indexer.Whole, sink.NullsDelete},
			"replace": {indexer.Whole, sink.NullsReplace}} {
			t.Run(name, func(t *testing.T) {
				b := newBoth(t, client, c.changes, c.nulls)
				random := rand.New(rand.NewPCG(8, 8))
				events := visitChanges(random, c.changes)
				for len(events) > 0 {
					n := min(len(events), 1+random.IntN(40))
					b.write(t, events[:n], b.rows, b.docs)
					events = events[n:]
				}
				b.checkSame(t)
				b.checkMarks(t)
			})
		}
	})
}

func newBoth(t *testing.T, client *hbase.Client, changes indexer.Changes, nulls sink.NullPolicy) *both {
	t.Helper()
	key := visitKey(t, `user + "|" + desc(at, ms) + id`)
	b := &both{visitTable: newVisits(t, client, "both", sink.RowEntity, rowkey.One(key))}
	b.visitTable.rows.Nulls = nulls
	b.reads.Index = &query.Index{Name: "visits", Replaced: changes == indexer.Whole && nulls == sink.NullsMerge, Fields: []query.IndexField{
		{Name: "page", Field: "page", Type: rowkey.Text}, {Name: "note", Field: "note", Type: rowkey.Text, Words: true}}}
	opts := indexer.Options{Schema: visits, Documents: []indexer.Document{{Index: "visits", Key: key, Changes: changes, Deleted: "gone",
		Set: []indexer.Column{{Name: "page", Field: "page"}, {Name: "note", Field: "note", Type: indexer.Text}}}}}
	var err error
	if b.engine, err = bleve.Open(bleve.Options{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.engine.Close() })
	if err := b.engine.EnsureIndex(t.Context(), opts.Mappings()[0]); err != nil {
		t.Fatal(err)
	}
	if b.docs, err = indexer.New(b.engine, opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.docs.Close() })
	mutator, err := client.Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		t.Fatal(err)
	}
	if b.rows, err = sink.New(sink.HBase(mutator), sink.Options{Schema: visits, Rows: []sink.Rows{b.visitTable.rows}}); err != nil {
		t.Fatal(err)
	}
	return b
}

// visitChanges returns changes of some visits, shuffled and repeated. Partial ones have few versions, so that there are many ties. Whole
// ones have none, because a tie would leave in the row what the change applied last has null.
func visitChanges(random *rand.Rand, changes indexer.Changes) (events []event.Event) {
	for i := range 300 {
		version := int64(1 + i)
		if changes == indexer.Partial {
			version = 1 + random.Int64N(8)
		}
		ev := visit(version, fmt.Sprint("u", random.IntN(6)), random.Int64N(5), event.BoolValue(random.IntN(4) == 0))
		for _, field := range []int{4, 5} {
			if random.IntN(2) == 0 {
				ev.Values[field] = event.TextValue(fmt.Sprint("v", i))
			}
		}
		events = append(events, ev)
	}
	for range 100 {
		events = append(events, events[random.IntN(len(events))])
	}
	random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	return events
}

func visit(version int64, user string, at int64, gone event.Value) event.Event {
	ev := event.Event{Record: &event.Record{Timestamp: 1 << 40}, Version: version, Values: make([]event.Value, len(visits.Fields))}
	ev.Values[0], ev.Values[1], ev.Values[2], ev.Values[6] = event.TextValue(user), event.TimeValue(at), event.TextValue("i"), gone
	return ev
}

// submitter is a writer of batches.
type submitter interface {
	Submit(ctx context.Context, b *event.Batch) event.Flight
}

func (b *both) write(t *testing.T, events []event.Event, to ...submitter) {
	t.Helper()
	for _, w := range to {
		if failed, err := event.Settle(t.Context(), w.Submit(t.Context(), &event.Batch{Events: events})); err != nil || len(failed) > 0 {
			t.Fatal(err, failed)
		}
	}
}

// found returns everything that the index finds, by row.
func (b *both) found(t *testing.T, deleted bool) map[string]query.Found {
	t.Helper()
	out := map[string]query.Found{}
	for f, err := range query.Search(t.Context(), b.engine, b.client, b.reads, search.Query{Index: "visits", Deleted: deleted}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		out[string(f.Key)] = f
	}
	return out
}

// checkSame checks that every row is found, that each document agrees with its row, and that both hide those that are marked as deleted.
func (b *both) checkSame(t *testing.T) {
	t.Helper()
	for _, deleted := range []bool{true, false} {
		found, rows := b.found(t, deleted), 0
		for row, err := range query.Rows(t.Context(), b.client, b.reads, nil, query.Options{Deleted: deleted}) {
			if err != nil {
				t.Fatal(err)
			}
			rows++
			if f, ok := found[string(row.Key)]; !ok || f.State != query.Same || rowText(f.Row) != rowText(row) {
				t.Errorf("the row %s is found as %s, %q", rowText(row), rowText(f.Row), f.State)
			}
		}
		if rows != len(found) || rows < 10 {
			t.Errorf("with the deleted %t: %d rows, %d found", deleted, rows, len(found))
		}
	}
}

// checkMarks writes changes of a few visits only as rows or only as documents.
func (b *both) checkMarks(t *testing.T) {
	t.Helper()
	changed := func(user string, at int64) []event.Event {
		ev := visit(1000, user, at, event.BoolValue(false))
		ev.Values[4] = event.TextValue("changed")
		return []event.Event{ev}
	}
	b.write(t, changed("u0", 0), b.rows)
	b.write(t, changed("u0", 1), b.docs)
	b.write(t, changed("new", 0), b.docs)
	b.write(t, changed("late", 0), b.rows)
	states := map[query.State]int{}
	for _, f := range b.found(t, true) {
		states[f.State]++
	}
	if states[query.Older] != 1 || states[query.Newer] != 1 || states[query.NoRow] != 1 || states[query.Differs] != 0 {
		t.Errorf("marks %v, want one of each but of those that differ", states)
	}
}
