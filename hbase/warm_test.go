package hbase_test

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

// One scan of hbase:meta finds all regions of a table and connects to their servers: what follows does not read hbase:meta.
func TestWarm(t *testing.T) {
	const regions = 2000
	s, c := start(t, embedded.Options{Servers: 3})
	warmTable(t, c, regions)
	c = dial(t, "rpc://"+s.Addr())
	var metaCalls atomic.Int32
	defer s.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
		if string(r.Param.(*hbasepb.ScanRequest).GetRegion().GetValue()) == "hbase:meta,,1" {
			metaCalls.Add(1)
		}
		return nil
	})()
	n, err := c.Warm(t.Context(), "wide")
	if err != nil || n != regions {
		t.Fatal(n, err)
	}
	if n := metaCalls.Load(); n != 1 {
		t.Errorf("%d scanners of hbase:meta, want 1", n)
	}
	if _, err := c.GetAll(t.Context(), "wide", []hbase.Get{{Row: key(0)}, {Row: key(7)}, {Row: key(regions - 1)}}); err != nil {
		t.Fatal(err)
	}
	if n := metaCalls.Load(); n != 1 {
		t.Errorf("%d scanners of hbase:meta after reads, want 1", n)
	}
	if _, err := c.Warm(t.Context(), "nothing"); err == nil {
		t.Error("a table that is not there was warmed")
	}
}

func key(i int) []byte { return binary.BigEndian.AppendUint32([]byte("k"), uint32(i)) }

func warmTable(tb testing.TB, c *hbase.Client, regions int) {
	tb.Helper()
	var splits [][]byte
	for i := 1; i < regions; i++ {
		splits = append(splits, key(i))
	}
	if err := c.CreateTable(tb.Context(), hbase.Table{Name: "wide", Families: []hbase.Family{{Name: "e"}}}, splits); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkWarm warms up a client for a table of 10,000 regions. The bound is 2 s.
func BenchmarkWarm(b *testing.B) {
	s, c := start(b, embedded.Options{Servers: 3})
	warmTable(b, c, 10_000)
	var longest time.Duration
	for b.Loop() {
		c := dial(b, "rpc://"+s.Addr())
		began := time.Now()
		if n, err := c.Warm(b.Context(), "wide"); err != nil || n != 10_000 {
			b.Fatal(n, err)
		}
		longest = max(longest, time.Since(began))
	}
	b.ReportMetric(longest.Seconds(), "longest-s")
	if longest > 2*time.Second {
		b.Errorf("10,000 regions took %v", longest)
	}
}
