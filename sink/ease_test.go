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

// sickClient is a client one of whose tables has a region that fails: of its flights the mutations at left are eased, and end as
// fate says. Batches that are given back are overwritten.
type sickClient struct {
	table string
	left  []int32
	fate  []hbase.MutationError // by their indexes in the batch that was submitted
	other []hbase.MutationError // of the other tables
}

func (c *sickClient) Release() {}
func (c *sickClient) Hurry()   {}

func (c *sickClient) Submit(_ context.Context, b *hbase.Batch) sink.Flight {
	if b.Table() != c.table {
		return &sickFlight{done: c.other}
	}
	kept := hbase.NewBatch(b.Table())
	for _, i := range c.left {
		kept.Mutate(b.Row(int(i)))
		kept.Put([]byte("e"), []byte("q"), 1, nil)
	}
	return &sickFlight{kept: kept, indexes: c.left, done: c.fate}
}

type sickFlight struct {
	kept    *hbase.Batch
	indexes []int32
	done    []hbase.MutationError
}

func (f *sickFlight) Ease(context.Context) (*hbase.Batch, []int32, error) {
	return f.kept, f.indexes, nil
}

func (f *sickFlight) Wait(context.Context) ([]hbase.MutationError, error) { return f.done, nil }

// An eased flight tells which events are not durable, in one table or the other; then what became of them, by their indexes in the
// batch and with their own rows. Its buffers are the next flight's meanwhile, and buckets are counted once.
func TestEasedFlightTellsOfItsOwnEvents(t *testing.T) {
	refused := hbase.MutationError{Kind: hbase.Refused, Err: hbase.ErrDenied, Attempts: 3}
	at := func(e hbase.MutationError, i int) hbase.MutationError { e.Index = i; return e }
	c := &sickClient{
		table: "salted", left: []int32{2, 5, 7},
		fate:  []hbase.MutationError{at(refused, 5), {Index: 7, Kind: hbase.Transient, Err: hbase.ErrDenied}},
		other: []hbase.MutationError{at(hbase.MutationError{Kind: hbase.BadRow, Err: hbase.ErrDenied}, 1)},
	}
	rows := scanRows(t)
	rows.Table.Name, rows.Table.Keys = "salted", rowkey.One(key(t, scans, `salt(4, waybill) + waybill + "|" + desc(at, ms)`))
	spread := map[string]int64{}
	s := newSink(t, c, sink.Options{Schema: scans, Rows: []sink.Rows{rows, lastRows(t)}, Hooks: sink.Hooks{
		Spread: func(table string, buckets []sink.Bucket) {
			for _, b := range buckets {
				spread[table] += b.Rows
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
	f := s.Submit(t.Context(), ten("first")).(event.Easer)
	left, err := f.Ease(t.Context())
	if diff := cmp.Diff([]int{1, 2, 5, 7}, left); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if spread["salted"] != 7 {
		t.Errorf("%d rows are counted as durable, want 7", spread["salted"])
	}
	if again, err := f.Ease(t.Context()); err != nil || again != nil {
		t.Error("eased twice", again, err)
	}
	s.Submit(t.Context(), ten("other")) // in the buffers of the first
	failures, err := f.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type told struct {
		Index   int
		Verdict event.Verdict
		Row     string
	}
	var got []told
	for _, x := range failures {
		row := "first" + string(rune('A'+x.Index))
		if !strings.Contains(x.Err.Error(), row) {
			row = x.Err.Error()
		}
		got = append(got, told{x.Index, x.Verdict, row})
	}
	want := []told{{1, event.Reject, "firstB"}, {5, event.Reject, "firstF"}, {7, event.Retry, "firstH"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(- wanted, + got)\n%s", diff)
	}
	if spread["salted"] != 8 {
		t.Errorf("%d rows are counted as durable in the end, want 8", spread["salted"])
	}
}
