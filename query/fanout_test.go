package query_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/query"
	"brine/rowkey"
)

const (
	fanBuckets = 64
	fanRows    = 64 << 10
)

// fanTable is a table of fanRows rows in fanBuckets regions, one per bucket, on a server in this process.
func fanTable(tb testing.TB) (*embedded.Server, *hbase.Client, query.Table) {
	tb.Helper()
	server, err := embedded.Start(embedded.Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { server.Close() })
	client, err := hbase.Open(tb.Context(), hbase.Options{Connect: "rpc://" + server.Addr()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { client.Close() })
	key, err := rowkey.Parse(fmt.Sprintf(`salt(%d, station) + asc(at, ms) + station`, fanBuckets), []rowkey.Field{{Name: "at", Type: rowkey.Time}, {Name: "station", Type: rowkey.Text}})
	if err != nil {
		tb.Fatal(err)
	}
	var splits [][]byte
	for i := 1; i < fanBuckets; i++ {
		splits = append(splits, []byte{byte(i)})
	}
	if err := client.CreateTable(tb.Context(), hbase.Table{Name: "readings", Families: []hbase.Family{{Name: "e"}}}, splits); err != nil {
		tb.Fatal(err)
	}
	r := rand.New(rand.NewPCG(6, 6))
	for range 16 {
		b := hbase.NewBatch("readings")
		for range fanRows / 16 {
			at := r.Int64N(1 << 40)
			row, err := key.Append(nil, []rowkey.Value{rowkey.TextValue(fmt.Sprintf("s%d", at)), {Type: rowkey.Time, Int: at}})
			if err != nil {
				tb.Fatal(err)
			}
			b.Mutate(row)
			b.Put([]byte("e"), []byte("v"), 1, make([]byte, 150))
		}
		if failed, err := client.Submit(tb.Context(), b).Wait(tb.Context()); err != nil || len(failed) > 0 {
			tb.Fatal(err, failed)
		}
	}
	return server, client, query.Table{Name: "readings", Keys: rowkey.One(key), Columns: []query.Column{{Family: "e", Qualifier: "v", Field: "v", Type: event.Text}}}
}

// oneBucket is one of the ranges of a fan-out as a table of its own: the key without its salt, behind a constant.
func oneBucket(tb testing.TB, t query.Table) query.Table {
	tb.Helper()
	key, err := rowkey.Parse(`"\x07" + asc(at, ms) + station`, []rowkey.Field{{Name: "at", Type: rowkey.Time}, {Name: "station", Type: rowkey.Text}})
	if err != nil {
		tb.Fatal(err)
	}
	t.Keys = rowkey.One(key)
	return t
}

// firstRow returns the time until an answer's first row.
func firstRow(tb testing.TB, client *hbase.Client, t query.Table) time.Duration {
	tb.Helper()
	began := time.Now()
	for _, err := range query.Rows(tb.Context(), client, t, nil, query.Options{}) {
		if err != nil {
			tb.Fatal(err)
		}
		return time.Since(began)
	}
	tb.Fatal("no row")
	return 0
}

// median sorts times and returns the median.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkFirstRow compares the first row of 64 buckets with the first row of one, on a local server and on one whose calls take a
// millisecond, as over a network.
func BenchmarkFirstRow(b *testing.B) {
	for _, delay := range []time.Duration{0, time.Millisecond} {
		b.Run(fmt.Sprintf("delay=%v", delay), func(b *testing.B) {
			server, client, fan := fanTable(b)
			one := oneBucket(b, fan)
			if delay > 0 {
				server.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
					r.Keep()
					return &embedded.Outcome{Delay: delay}
				})
			}
			firstRow(b, client, fan) // regions are known from here on
			var ones, fans []time.Duration
			for b.Loop() { // alternately, so that other work on the machine slows both
				ones = append(ones, firstRow(b, client, one))
				fans = append(fans, firstRow(b, client, fan))
			}
			oneTime, fanTime := median(ones), median(fans)
			b.ReportMetric(float64(oneTime.Microseconds()), "µs-one")
			b.ReportMetric(float64(fanTime.Microseconds()), "µs-64")
			b.ReportMetric(float64(fanTime)/float64(oneTime), "ratio")
		})
	}
}

// BenchmarkFanOut reads all rows of 64 buckets in order.
func BenchmarkFanOut(b *testing.B) {
	_, client, fan := fanTable(b)
	for b.Loop() {
		n := 0
		for _, err := range query.Rows(b.Context(), client, fan, nil, query.Options{}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != fanRows {
			b.Fatalf("%d rows", n)
		}
	}
	b.ReportMetric(float64(b.N)*fanRows/b.Elapsed().Seconds(), "rows/s")
}

// TestFanOutReadsEachRowOnce merges all rows of 64 buckets through the wire: in order, each read once by the server, with bounded scanners
// and memory, and the first of them after calls that were all pending at once.
func TestFanOutReadsEachRowOnce(t *testing.T) {
	server, client, fan := fanTable(t)
	together := make(chan struct{})
	var calls, held atomic.Int64
	server.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
		if calls.Add(1) == fanBuckets {
			close(together)
		}
		if calls.Load() < fanBuckets {
			r.Keep()
		}
		return &embedded.Outcome{Until: together} // no answer until a call for each bucket has arrived
	})
	var cost query.Cost
	var last []byte
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	for row, err := range query.Rows(t.Context(), client, fan, nil, query.Options{Cost: &cost}) {
		if err != nil {
			t.Fatal(err)
		}
		if string(row.Key[1:]) <= string(last) {
			t.Fatalf("%x after %x", row.Key[1:], last)
		}
		last = row.Key[1:]
		if n++; n%(fanRows/8) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			held.Store(max(held.Load(), int64(now.HeapAlloc)-int64(before.HeapAlloc)))
		}
	}
	if n != fanRows || cost.Rows != fanRows || cost.Read != fanRows {
		t.Errorf("%d rows: %+v", n, cost)
	}
	t.Logf("%+v; at most %d KiB more than before were held", cost, held.Load()>>10)
	if held.Load() > 24<<20 {
		t.Errorf("%d bytes were held", held.Load())
	}
}
