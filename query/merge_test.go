package query

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
)

// saltedTable has rows of the same time in several buckets: without the salt they differ only in the station.
func saltedTable(t testing.TB, buckets int) Table {
	t.Helper()
	key, err := rowkey.Parse(fmt.Sprintf(`salt(%d, station) + asc(at, ms) + station`, buckets), []rowkey.Field{{Name: "at", Type: rowkey.Time}, {Name: "station", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	return Table{Name: "readings", Keys: rowkey.One(key), Deleted: "gone", Columns: []Column{
		{Family: "e", Qualifier: "v", Field: "v", Type: event.Text}, {Family: "e", Qualifier: "d", Field: "gone", Type: event.Bool}}}
}

// reading returns the row of a station at a time.
func (t Table) reading(tb testing.TB, at int64, station string, gone bool) hbase.Result {
	tb.Helper()
	row, err := t.Keys.Newest().Append(nil, []rowkey.Value{rowkey.TextValue(station), {Type: rowkey.Time, Int: at}})
	if err != nil {
		tb.Fatal(err)
	}
	r := hbase.Result{Row: row, Cells: []hbase.Cell{{Row: row, Family: []byte("e"), Qualifier: []byte("v"), Value: []byte("value"), Timestamp: at}}}
	if gone {
		r.Cells = append(r.Cells, hbase.Cell{Row: row, Family: []byte("e"), Qualifier: []byte("d"), Value: event.AppendValue(nil, event.BoolValue(true)), Timestamp: at})
	}
	return r
}

func (s *store) put(rows ...hbase.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, rows...)
	slices.SortFunc(s.rows, func(a, b hbase.Result) int { return bytes.Compare(a.Row, b.Row) })
}

// readings returns n rows of random times, some equal; if gone, every third is marked deleted.
func readings(t testing.TB, table Table, n int, gone bool) *store {
	t.Helper()
	s := &store{}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		s.rows = append(s.rows, table.reading(t, r.Int64N(int64(n/2+1)), fmt.Sprintf("s%d", i), gone && i%3 == 0))
	}
	s.put()
	return s
}

// inOrder returns the rows as a single sort of all of them orders them.
func (s *store) inOrder(salt int, gone bool) [][]byte {
	var want [][]byte
	for _, r := range s.rows {
		if gone || len(r.Cells) == 1 {
			want = append(want, r.Row)
		}
	}
	slices.SortStableFunc(want, func(a, b []byte) int { return bytes.Compare(a[salt:], b[salt:]) })
	return want
}

func keysOf(t testing.TB, s *store, table Table, o Options) (keys [][]byte) {
	t.Helper()
	for row, err := range Rows(t.Context(), s, table, nil, o) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, row.Key)
	}
	return keys
}

func TestBucketsAreMergedInOrder(t *testing.T) {
	for _, buckets := range []int{2, 64, 300, 5000} {
		for _, n := range []int{0, 1, 20000} {
			table := saltedTable(t, buckets)
			s := readings(t, table, n, true)
			for _, gone := range []bool{false, true} {
				var cost Cost
				s.mostOpen = 0
				want := s.inOrder(table.Keys.Newest().SaltWidth(), gone)
				if got := keysOf(t, s, table, Options{Deleted: gone, Cost: &cost}); !slices.EqualFunc(got, want, bytes.Equal) {
					t.Errorf("%d buckets, %d rows: %d are given, %d wanted, or not in order", buckets, n, len(got), len(want))
				}
				if cost.Rows != len(want) || cost.Read != n {
					t.Errorf("%d buckets: %+v for %d of %d rows", buckets, cost, len(want), n)
				}
				if s.open != 0 || s.mostOpen > mergeCalls {
					t.Errorf("%d buckets: %d scanners were open at a time, %d are left", buckets, s.mostOpen, s.open)
				}
			}
		}
	}
}

// TestMergeHoldsLittle reads a first row, and checks how much was read for it. Then it reads all rows, and checks that the merge never
// reads far ahead.
func TestMergeHoldsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100000
		table := saltedTable(t, 64)
		s := readings(t, table, n, false)
		most, taken := 0, 0
		for _, err := range Rows(t.Context(), s, table, nil, Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			if taken++; taken%500 == 1 {
				synctest.Wait() // all requested pages are read
				if taken == 1 && s.scanned > 2*64*firstRows {
					t.Errorf("%d rows were read for the first", s.scanned)
				}
				most = max(most, s.scanned-taken)
			}
		}
		if taken != n || most > 2*mergeRows {
			t.Errorf("%d rows, as many as %d were held", taken, most)
		}
		t.Logf("of %d rows, at most %d were read and not taken yet", n, most)
	})
}

// TestBucketsAreReadAtOnce checks that the first row of 64 buckets takes the time of one call.
func TestBucketsAreReadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := saltedTable(t, 64)
		s := readings(t, table, 10000, false)
		s.pause = time.Second
		began := time.Now()
		for range Rows(t.Context(), s, table, nil, Options{}) {
			break
		}
		if took := time.Since(began); took != time.Second && took != 2*time.Second || s.mostOpen != 64 {
			t.Errorf("%v, %d scanners at a time", took, s.mostOpen)
		}
	})
}

func TestLimitReadsNoMoreThanItNeeds(t *testing.T) {
	table := saltedTable(t, 64)
	s := readings(t, table, 10000, true)
	for _, limit := range []int{1, 10, 1000} {
		var cost Cost
		want := s.inOrder(1, false)[:limit]
		if got := keysOf(t, s, table, Options{Limit: limit, Cost: &cost}); !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("limit %d: %d rows, or not the first", limit, len(got))
		}
		if cost.Read > 64+3*limit {
			t.Errorf("limit %d: %d rows were read", limit, cost.Read)
		}
	}
}

// TestLatestIsOneRowRead checks that one row of one bucket costs one row and one call, plus the hidden rows.
func TestLatestIsOneRowRead(t *testing.T) {
	s := rowsOf(change{"a1", "x", 1, true}, change{"a2", "x", 1, false}, change{"a3", "x", 1, true}, change{"a4", "x", 1, true}, change{"a5", "x", 1, false}, change{"a6", "x", 1, false})
	for _, tt := range []struct {
		o    Options
		want Cost
	}{
		{Options{Limit: 1, Deleted: true}, Cost{Rows: 1, Read: 1, Calls: 1, Scanners: 1}},
		{Options{Limit: 1}, Cost{Rows: 1, Read: 2, Calls: 2, Scanners: 2}},
		{Options{Limit: 2}, Cost{Rows: 2, Read: 5, Calls: 4, Scanners: 4}},
		{Options{}, Cost{Rows: 3, Read: 6, Calls: 1, Scanners: 1}},
	} {
		var got Cost
		tt.o.Cost = &got
		keysOf(t, s, ordersTable(t), tt.o)
		if got != tt.want {
			t.Errorf("%+v: %+v", tt.o, got)
		}
	}
}

func TestMergeEndsWithItsError(t *testing.T) {
	table := saltedTable(t, 64)
	s := readings(t, table, 10000, false)
	all := s.inOrder(1, true)
	s.fail = all[len(all)/2]
	n := 0
	var last error
	for _, err := range Rows(t.Context(), s, table, nil, Options{}) {
		if n++; err != nil {
			last = err
		}
	}
	if !errors.Is(last, errStore) || n > len(all)/2+1 {
		t.Errorf("%d rows, then %v", n, last)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.fail = nil
	for _, err := range Rows(ctx, s, table, nil, Options{}) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) || s.open != 0 {
		t.Errorf("after the end of its context: %v, %d scanners are open", last, s.open)
	}
}

func BenchmarkMerge64(b *testing.B) {
	table := saltedTable(b, 64)
	s := readings(b, table, 50000, false)
	for b.Loop() {
		for _, err := range Rows(b.Context(), s, table, nil, Options{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/50000, "ns/row")
}
