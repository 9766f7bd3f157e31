package sink_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/sink"
)

// failingClient is a client with one table that has a failing region: of the table's flights the mutations at left are pending, and end
// with fate. Batches that are returned to the caller are overwritten.
type failingClient struct {
	table string
	left  []int32
	fate  []hbase.MutationError // by their indexes in the submitted batch
	other []hbase.MutationError // of the other tables
}

func (c *failingClient) Release() {}
func (c *failingClient) Hurry()   {}

func (c *failingClient) Submit(_ context.Context, b *hbase.Batch) sink.Flight {
	if b.Table() != c.table {
		return &failingFlight{done: c.other}
	}
	kept := hbase.NewBatch(b.Table())
	for _, i := range c.left {
		kept.Mutate(b.Row(int(i)))
		kept.Put([]byte("e"), []byte("q"), 1, nil)
	}
	return &failingFlight{kept: kept, indexes: c.left, done: c.fate}
}

type failingFlight struct {
	kept    *hbase.Batch
	indexes []int32
	done    []hbase.MutationError
}

func (f *failingFlight) WaitPending(context.Context) (*hbase.Batch, []int32, error) {
	return f.kept, f.indexes, nil
}

func (f *failingFlight) Wait(context.Context) ([]hbase.MutationError, error) { return f.done, nil }

// A flight that stalls reports which events are pending and which have failed, in one table or the other. Then it reports what became of
// them, by their indexes in the batch and with their own rows. Its buffers meanwhile belong to the next flight, and buckets are counted
// once.
func TestStalledFlightReportsItsOwnEvents(t *testing.T) {
	refused := hbase.MutationError{Kind: hbase.Refused, Err: hbase.ErrDenied, Attempts: 3}
	at := func(e hbase.MutationError, i int) hbase.MutationError { e.Index = i; return e }
	c := &failingClient{
		table: "salted", left: []int32{2, 5, 7},
		fate:  []hbase.MutationError{at(refused, 5), {Index: 7, Kind: hbase.Transient, Err: hbase.ErrDenied}},
		other: []hbase.MutationError{at(hbase.MutationError{Kind: hbase.BadRow, Err: hbase.ErrDenied}, 1)},
	}
	rows := scanRows(t)
	rows.Table.Name, rows.Table.Keys = "salted", rowkey.One(key(t, scans, `salt(4, waybill) + waybill + "|" + desc(at, ms)`))
	spread := map[string]int64{}
	s := newSink(t, c, sink.Options{Schema: scans, Rows: []sink.Rows{rows, lastRows(t)}, Hooks: sink.Hooks{
		Spread: func(i sink.SpreadInfo) {
			for _, b := range i.Buckets {
				spread[i.Table] += b.Rows
			}
		},
	}})
	ten := func(prefix string) *event.Batch {
		var records []string
		for i := range 10 {
			records = append(records, scan(prefix+string(rune('A'+i)), 1000+i))
		}
		return batch(t, scans, records...)
	}
	f := s.Submit(t.Context(), ten("first"))
	o, err := f.Wait(t.Context(), event.Stalled)
	if diff := cmp.Diff([]int{1, 2, 5, 7}, o.Left()); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if diff := cmp.Diff([]int{2, 5, 7}, o.Pending); diff != "" {
		t.Error(diff)
	}
	if spread["salted"] != 7 {
		t.Errorf("%d rows are counted as durable, want 7", spread["salted"])
	}
	s.Submit(t.Context(), ten("other"))                // in the buffers of the first
	settled, err := f.Wait(t.Context(), event.Stalled) // it has stalled before
	if err != nil || len(settled.Pending) > 0 {
		t.Fatal(settled, err)
	}
	type reported struct {
		Index   int
		Verdict event.Verdict
		Row     string
		Rest    event.Rest
	}
	var got []reported
	for _, x := range settled.Failures {
		row := "first" + string(rune('A'+x.Index))
		if !strings.Contains(x.Err.Error(), row) {
			row = x.Err.Error()
		}
		got = append(got, reported{x.Index, x.Verdict, row, x.Rest})
	}
	want := []reported{{1, event.Reject, "firstB", event.RestOf(1)}, {5, event.Reject, "firstF", event.RestOf(0)},
		{7, event.Retry, "firstH", event.RestOf(0)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(- wanted, + got)\n%s", diff)
	}
	if spread["salted"] != 8 {
		t.Errorf("%d rows are counted as durable in the end, want 8", spread["salted"])
	}
}
