package verify_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
	"brine/sink"
	"brine/verify"
)

// meddler is a Store in which something happens right after the first read.
type meddler struct {
	verify.Store
	then func()
}

func (m *meddler) now() {
	if then := m.then; then != nil {
		m.then = nil
		then()
	}
}

func (m *meddler) Get(ctx context.Context, keys [][]byte) ([][]verify.Cell, error) {
	defer m.now()
	return m.Store.Get(ctx, keys)
}

func (m *meddler) Splits(ctx context.Context) ([][]byte, error) { return nil, ctx.Err() }

func (m *meddler) Scan(ctx context.Context, from, to []byte) iter.Seq2[verify.Row, error] {
	return func(yield func(verify.Row, error) bool) {
		first := true
		for row, err := range m.Store.Scan(ctx, from, to) {
			if first {
				m.now()
			}
			if first = false; !yield(row, err) {
				return
			}
		}
	}
}

// TestWhatIsWrittenMeanwhileIsNotFound changes the table while it is verified, as the live pipeline does: rows that the first look finds
// but the topic's range does not contain, cells that became newer, and rows that a later change has deleted.
func TestWhatIsWrittenMeanwhileIsNotFound(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{true, false} {
		w := newWorld(t, embeddedHBase)
		w.rows.Rows[0].Nulls = sink.NullsDelete
		w.send(someOrders...)
		w.write()
		o := w.options()
		o.Full = full
		o.Tables[0].Store = &meddler{Store: o.Tables[0].Store, then: func() {
			w.send(change("o1", 20, `"status":"shipped"`), change("o7", 20, `"status":"created"`), change("o2", 20, `"note":"none"`), change("zz", 1, `"note":"n"`))
			w.write()
		}}
		if got := found(w.check(o)); got != "" {
			t.Errorf("full %v: found\n%s", full, got)
		}
	}
}

// TestOnlyWhatIsSettledIsExpected has records beyond the watermark, some of which are written: neither kind is a finding. A row that must
// exist but does not is one.
func TestOnlyWhatIsSettledIsExpected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.send(someOrders[:6]...)
	w.write()
	w.send(someOrders[6:]...) // offset 2 of each partition, not written
	w.put("o2", "f", "status", 10, "paid")
	w.put("o2", "g", "note", 10, "gift") // except for this one
	o := w.options()
	o.Sources[0].Settled = map[int]int64{0: 2, 1: 2, 2: 2}
	r := w.check(o)
	if got := found(r); got != "" || r.Sources[0].Ahead != 3 {
		t.Errorf("found\n%s%d records are ahead, expected 3", got, r.Sources[0].Ahead)
	}
	o.Sources[0].Settled = map[int]int64{0: 2, 1: 2, 2: 3}
	if got, want := found(w.check(o)), "stale row o3 f:status expected 10 found 0 2@2: a newer change is missing\n"; got != want {
		t.Errorf("found\n%sexpected\n%s", got, want)
	}
}

// TestAWindowKnowsWhatComesBehindIt verifies only the first changes, in a table that later ones have changed and deleted.
func TestAWindowKnowsWhatComesBehindIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.indexed(indexer.Whole)
	w.rows.Rows[0].Nulls = sink.NullsReplace
	w.send(someOrders...)
	w.write()
	if err := w.client.CompactTable(t.Context(), w.table, true); err != nil {
		t.Fatal(err)
	}
	w.awaitNoMarkers()
	o := w.options()
	o.Full = false
	for i := range o.Sources {
		o.Sources[i].To = ingest.Offsets(map[int]int64{0: 2, 1: 2, 2: 2})
		o.Sources[i].Partitions = []int{0, 1, 2}
	}
	if got := found(w.check(o)); got != "" {
		t.Errorf("found\n%s", got)
	}
}

// awaitNoMarkers waits until the table has no delete marker.
func (w *world) awaitNoMarkers() {
	w.t.Helper()
	for {
		markers := 0
		for row, err := range w.client.Scan(w.t.Context(), w.table, hbase.Scan{Raw: true, MaxVersions: 100}) {
			if err != nil {
				w.t.Fatal(err)
			}
			for _, c := range row.Cells {
				if c.Type != hbase.Put {
					markers++
				}
			}
		}
		if markers == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond) // another process compacts
	}
}

// takeOne deletes the cells of one row, with everything older.
func (w *world) takeOne() {
	w.t.Helper()
	for row, err := range w.client.Scan(w.t.Context(), w.table, hbase.Scan{Limit: 1}) {
		if err != nil {
			w.t.Fatal(err)
		}
		w.mutate(string(row.Row), func(b *hbase.Batch) {
			for _, c := range row.Cells {
				b.Delete(hbase.DeleteColumn, c.Family, c.Qualifier, c.Timestamp)
			}
		})
	}
}
