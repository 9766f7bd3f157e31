package hbase_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
)

// A consumer that takes longer than the lease continues after the last row.
func TestScanOutlivesItsLease(t *testing.T) {
	var ahead atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	_, c := start(t, embedded.Options{Clock: clock, ScannerLease: time.Minute})
	table(t, c, "t")
	for _, reverse := range []bool{false, true} {
		var got []string
		var m hbase.ScanMetrics
		for r, err := range c.Scan(t.Context(), "t", hbase.Scan{Caching: 10, Reverse: reverse, Metrics: &m}) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, string(r.Row)); len(got)%20 == 10 {
				ahead.Add(int64(2 * time.Minute))
			}
		}
		want := rows(0, 100)
		if reverse {
			slices.Reverse(want)
		}
		if !slices.Equal(got, want) || m.Lost == 0 {
			t.Errorf("reverse %v: %v; %+v", reverse, got, m)
		}
	}
}

// With Renew, the same scanner continues however long the consumer takes. The server's clock advances by a third of the lease with each
// renewal sent, and not by itself: even on a slow machine, it is the renewals that keep the scanner.
func TestScanRenewsItsLease(t *testing.T) {
	const lease = 300 * time.Millisecond
	var ahead atomic.Int64
	began := time.Now()
	s, c := start(t, embedded.Options{ScannerLease: lease, Clock: func() time.Time { return began.Add(time.Duration(ahead.Load())) }})
	table(t, c, "t")
	renewed := make(chan struct{}, 100)
	defer s.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
		if strings.Contains(fmt.Sprint(r.Param), "renew:true") {
			ahead.Add(int64(lease / 3))
			renewed <- struct{}{}
		}
		return nil
	})()
	var got []string
	var m hbase.ScanMetrics
	for r, err := range c.Scan(t.Context(), "t", hbase.Scan{Caching: 10, Renew: true, Metrics: &m}) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, string(r.Row)); len(got) == 5 {
			for range 6 { // twice the lease
				<-renewed
			}
		}
	}
	if !slices.Equal(got, rows(0, 100)) || m.Lost != 0 || m.Regions != 4 {
		t.Errorf("%v; %+v", got, m)
	}
}

func TestScanMetrics(t *testing.T) {
	onBoth(t, func(t *testing.T, c *hbase.Client, name string) {
		table(t, c, name)
		var m hbase.ScanMetrics
		if got := scan(t, c, name, hbase.Scan{Start: []byte("r10"), Stop: []byte("r60"), Metrics: &m}); len(got) != 50 {
			t.Errorf("%v", got)
		}
		if m.Rows != 50 || m.RowsScanned != 50 || m.RowsFiltered != 0 || m.Regions != 3 || m.Calls < 3 || m.Lost != 0 {
			t.Errorf("a range: %+v", m)
		}
		m = hbase.ScanMetrics{}
		scan(t, c, name, hbase.Scan{Filter: hbase.RowFilter{With: hbase.Bytes("r42")}, Metrics: &m})
		if m.Rows != 1 || m.RowsScanned != 100 || m.RowsFiltered != 99 {
			t.Errorf("a filter: %+v", m)
		}
	})
}
