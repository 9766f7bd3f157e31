package verify

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"syscall"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/ingest"
	"brine/ingest/eras"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/sink"
)

// scans is a topic of courier scans, whose rows have three cells, as in examples/scans.yaml.
var scans = event.Schema{Fields: []event.Field{
	{Name: "waybill", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "station", Type: event.Text},
	{Name: "action", Type: event.Text}, {Name: "courier", Type: event.Text},
}, Version: 1}

// shelf is a Store in memory that holds right rows, in regions.
type shelf struct {
	rows   []Row
	splits [][]byte
}

func (s *shelf) Splits(context.Context) ([][]byte, error) { return s.splits, nil }

func (s *shelf) at(key []byte) (int, bool) {
	return slices.BinarySearchFunc(s.rows, key, func(r Row, key []byte) int { return slices.Compare(r.Key, key) })
}

func (s *shelf) Get(_ context.Context, keys [][]byte) ([][]Cell, error) {
	out := make([][]Cell, len(keys))
	for i, key := range keys {
		if at, found := s.at(key); found {
			out[i] = s.rows[at].Cells
		}
	}
	return out, nil
}

func (s *shelf) Scan(_ context.Context, from, to []byte) iter.Seq2[Row, error] {
	first, _ := s.at(from)
	last := len(s.rows)
	if len(to) > 0 {
		last, _ = s.at(to)
	}
	return func(yield func(Row, error) bool) {
		for _, row := range s.rows[first:last] {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (*shelf) Remove(context.Context, []byte, []Cell) error { return nil }

// benchWorld returns a prepared Check of n scans, their batches, and the store with their rows.
func benchWorld(b *testing.B, n int) (*Check, []*event.Batch) {
	b.Helper()
	key, err := eventkey.Parse(`md5(waybill, 4) + waybill + "|" + desc(at, ms) + "|" + action`, scans)
	if err != nil {
		b.Fatal(err)
	}
	rows := &sink.Options{Schema: scans, Rows: []sink.Rows{{Table: sink.Table{Name: "scans", Row: sink.RowEvent, Keys: rowkey.One(key)},
		Columns: []sink.Column{{Family: "e", Qualifier: "s", Field: "station"}, {Family: "e", Qualifier: "a", Field: "action"},
			{Family: "e", Qualifier: "c", Field: "courier"}}}}}
	var batches []*event.Batch
	d := event.NewDecoder(scans)
	for i := range n {
		if i%1000 == 0 {
			batches = append(batches, new(event.Batch))
		}
		rec := &event.Record{Topic: "scans", Partition: i % 8, Offset: int64(i / 8), Timestamp: 1357034220000, Value: fmt.Appendf(nil,
			`{"waybill":"UA-%d-20130101-EWR","action":"DEPART","at":%d,"station":"Newark Liberty Intl","courier":"N14228"}`, i, 1357034220000+i)}
		if err := d.Decode(rec, batches[len(batches)-1]); err != nil {
			b.Fatal(err)
		}
	}
	store := new(shelf)
	recorder, err := newRowRecorder(&Options{Tables: []Table{{Name: "scans"}}}, rows)
	if err != nil {
		b.Fatal(err)
	}
	for _, batch := range batches {
		recorder.preview.Mutations(batch.Events, func(made *hbase.Batch, _ []int) {
			for i := range made.Len() {
				var cells []hbase.Cell
				for c := range made.Cells(i) {
					cells = append(cells, c)
				}
				slices.SortFunc(cells, func(a, b hbase.Cell) int { return cmp.Compare(a.Qualifier[0], b.Qualifier[0]) })
				row := Row{Key: slices.Clone(made.Row(i))}
				row.Cells, _ = appendCells(nil, nil, cells)
				store.rows = append(store.rows, row)
			}
		})
	}
	slices.SortFunc(store.rows, func(a, b Row) int { return slices.Compare(a.Key, b.Key) })
	for i := 1; i < 16; i++ {
		store.splits = append(store.splits, store.rows[i*n/16].Key)
	}
	c, err := New(Options{Dir: b.TempDir(), Full: true, Tables: []Table{{Name: "scans", Store: store, Events: true}},
		Sources: []Source{{Name: "scans.rows", From: ingest.Earliest, Rows: rows}}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	if err := c.prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	return c, batches
}

// cpuTime returns the processor time of this process so far.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perRow reports the time per row, and the processor time, because the wall clock of a busy machine is unreliable.
func perRow(b *testing.B, rows int, began time.Duration) {
	n := float64(b.N) * float64(rows)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/event")
	b.ReportMetric(float64((cpuTime(b)-began).Nanoseconds())/n, "cpu-ns/event")
}

// BenchmarkExpect measures what a decoded record costs until what it writes is sorted in the temporary file.
func BenchmarkExpect(b *testing.B) {
	const n = 100_000
	c, batches := benchWorld(b, n)
	x := &expecter{check: c, reading: eras.Present}
	b.ReportAllocs()
	began := cpuTime(b)
	for b.Loop() {
		for _, batch := range batches {
			x.Submit(b.Context(), batch)
		}
		if err := c.sorter.flush(); err != nil {
			b.Fatal(err)
		}
		c.sorter.runs, c.sorter.size = c.sorter.runs[:0], 0
	}
	perRow(b, n, began)
}

// BenchmarkCompare measures what a row costs that is read from the store and compared with what is expected, without the store.
func BenchmarkCompare(b *testing.B) {
	const n = 100_000
	for _, how := range []struct {
		name string
		all  bool
	}{{"scan", true}, {"get", false}} {
		b.Run(how.name, func(b *testing.B) {
			c, batches := benchWorld(b, n)
			x := &expecter{check: c, reading: eras.Present}
			for _, batch := range batches {
				x.Submit(b.Context(), batch)
			}
			b.ReportAllocs()
			began := cpuTime(b)
			for b.Loop() {
				if err := c.look(b.Context(), &look{check: c, all: how.all}); err != nil {
					b.Fatal(err)
				}
			}
			if len(c.suspects) > 0 || c.tallies[0].Compared != int64(b.N)*n {
				b.Fatalf("%d suspects, %d of %d rows compared", len(c.suspects), c.tallies[0].Compared, int64(b.N)*n)
			}
			perRow(b, n, began)
		})
	}
}
