package query_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
)

const (
	timelineOrders = 1000
	timelineEvents = 20 // per order
)

// timeline lays the events of orders out in rows: tall, one row per event, or wide, one column per event in the order's row.
type timeline struct {
	name string
	put  func(b *hbase.Batch, order string, at int64, value []byte)
}

var timelines = []timeline{
	{"tall", func(b *hbase.Batch, order string, at int64, value []byte) {
		b.Mutate(fmt.Appendf(nil, "%s|%016x", order, uint64(1<<62-at)))
		b.Put([]byte("e"), []byte("s"), at, value)
	}},
	{"wide", func(b *hbase.Batch, order string, at int64, value []byte) {
		b.Mutate([]byte(order))
		b.Put([]byte("e"), fmt.Appendf(nil, "%016x", uint64(1<<62-at)), at, value)
	}},
}

func orderKey(n int) string { return fmt.Sprintf("%04xSF%010d", n*40503&0xffff, n) }

// fill writes the events in the order of their arrival: the first ones of all orders, then all second ones.
func (l timeline) fill(b *testing.B, client *hbase.Client, table string) time.Duration {
	began := time.Now()
	value := make([]byte, 60)
	for at := range int64(timelineEvents) {
		batch := hbase.NewBatch(table)
		for n := range timelineOrders {
			l.put(batch, orderKey(n), 1_700_000_000_000+at, value)
		}
		if failed, err := client.Submit(b.Context(), batch).Wait(b.Context()); err != nil || len(failed) > 0 {
			b.Fatal(err, failed)
		}
	}
	return time.Since(began)
}

// read reads the timeline of an order, or only its first row.
func (l timeline) read(b *testing.B, client *hbase.Client, table, order string, limit int) time.Duration {
	began, cells := time.Now(), 0
	for row, err := range client.Scan(b.Context(), table, hbase.Scan{Start: []byte(order), Stop: []byte(order + "}"), Limit: limit}) {
		if err != nil {
			b.Fatal(err)
		}
		cells += len(row.Cells)
	}
	took := time.Since(began)
	if cells != timelineEvents && (limit != 1 || cells != 1) {
		b.Fatalf("%d cells", cells)
	}
	return took
}

// BenchmarkTallWide writes 20 events of 1,000 orders, and reads whole timelines and their newest events, as rows and as columns.
func BenchmarkTallWide(b *testing.B) {
	embeddedHBase := func(b *testing.B) string {
		server, err := embedded.Start(embedded.Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { server.Close() })
		return "rpc://" + server.Addr()
	}
	realHBase := func(b *testing.B) string { return testenv.HBase(b) }
	for _, l := range timelines {
		b.Run("embedded/"+l.name, func(b *testing.B) { l.bench(b, embeddedHBase(b)) })
		b.Run("real/"+l.name, func(b *testing.B) { l.bench(b, realHBase(b)) })
	}
}

func (l timeline) bench(b *testing.B, connect string) {
	client, err := hbase.Open(b.Context(), hbase.Options{Connect: connect})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	table := testenv.Name(b)
	if err := client.CreateTable(b.Context(), hbase.Table{Name: table, Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := errors.Join(client.DisableTable(b.Context(), table), client.DeleteTable(b.Context(), table)); err != nil {
			b.Error(err)
		}
	}()
	wrote := l.fill(b, client, table)
	var wholes, newests []time.Duration
	for b.Loop() { // alternately, so that other work on the machine slows both
		for n := range timelineOrders {
			wholes = append(wholes, l.read(b, client, table, orderKey(n), 0))
			newests = append(newests, l.read(b, client, table, orderKey(n), 1))
		}
	}
	b.ReportMetric(timelineOrders*timelineEvents/wrote.Seconds(), "events-written/s")
	b.ReportMetric(float64(median(wholes).Microseconds()), "µs/timeline")
	b.ReportMetric(float64(median(newests).Microseconds()), "µs/newest")
	b.ReportMetric(0, "ns/op")
}
