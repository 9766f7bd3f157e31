package operations

import (
	"context"
	"iter"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase"
	"brine/serve/client"
	"brine/service"
	"brine/service/mapstore"
	"brine/skew"
)

// silent is a cluster that does not answer.
type silent struct{ mapstore.Client }

func (silent) Scan(ctx context.Context, _ string, _ hbase.Scan) iter.Seq2[hbase.Result, error] {
	return func(yield func(hbase.Result, error) bool) {
		<-ctx.Done()
		yield(hbase.Result{}, ctx.Err())
	}
}

// TestHotRegionsAreOnTheirRangesOfTheMap checks that ranges may be finer than regions, and that one range may hold several regions.
func TestHotRegionsAreOnTheirRangesOfTheMap(t *testing.T) {
	m := skew.HeatMap{Starts: []skew.Key{nil, skew.Key("b"), skew.Key("c"), skew.Key("f")}}
	since := time.Now()
	for _, c := range []struct {
		start, end string
		from, to   int64
	}{{"", "b", 0, 1}, {"", "", 0, 4}, {"b", "f", 1, 3}, {"c", "d", 2, 3}, {"d", "f", 2, 3}, {"f", "", 3, 4}, {"g", "h", 3, 4}} {
		loads := []skew.Load{{}, {Region: skew.Region{Name: "hot", Start: skew.Key(c.start), End: skew.Key(c.end)}, HotSince: &since}}
		got := hotRanges(&m, loads, "")
		if want := (client.HotRange{Region: "hot", From: c.from, To: c.to}); len(got) != 1 || got[0] != want {
			t.Errorf("%q to %q: %+v, want %+v", c.start, c.end, got, want)
		}
	}
	if got := hotRanges(&skew.HeatMap{}, []skew.Load{{HotSince: &since}}, ""); len(got) > 0 {
		t.Errorf("on no map: %+v", got)
	}
}

// TestAMapIsNotWaitedForWithoutEnd checks that, if HBase is down, there is time left to show this process's own counters.
func TestAMapIsNotWaitedForWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		maps := mapstore.Open(mapstore.Options{Client: silent{}, Tables: skew.NewTables(time.Now)})
		for _, timeout := range []time.Duration{2 * time.Second, 10 * time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			began := time.Now()
			_, err := keptMap(ctx, maps, "t", mapstore.Span{From: began.Add(-time.Hour)})
			if err == nil || ctx.Err() != nil || time.Since(began) > mapsPatience {
				t.Errorf("of %v: %v after %v", timeout, err, time.Since(began))
			}
			cancel()
		}
	})
}

// TestAMapOfRequestsSaysThatTheMasterIsAway checks that a map of requests has what the cluster reports and, once the cluster does not
// report, why.
func TestAMapOfRequestsSaysThatTheMasterIsAway(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil)
	o := New(b.service, slog.New(slog.DiscardHandler))
	t.Cleanup(o.Close)
	now := time.Now()
	o.now = func() time.Time { return now } // what was asked of the cluster stays fresh
	minutes := 10
	requests := func() client.HeatMap {
		minutes++ // a map that was drawn a moment ago is shared
		m, err := o.HeatMap(t.Context(), scansTable, client.HeatMapOf{Metric: "requests", Minutes: minutes}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	take := func() {
		if err := b.service.TakeLoads(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	take()
	if m := requests(); m.Loads != "" || len(m.Rows)+len(m.Bytes) != 0 || len(m.Unknown) != len(m.Times) {
		t.Errorf("after one report: %+v", m)
	}
	take()
	now = time.Now()
	if m := requests(); m.Loads != "" || len(m.Requests) != 16 || len(m.Unknown) == len(m.Times) {
		t.Errorf("after two reports: %+v", m)
	}
	away, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.service.TakeLoads(away); err == nil {
		t.Fatal("the cluster has reported")
	}
	if m := requests(); m.Loads == "" || len(m.Requests) != 16 {
		t.Errorf("without a report: %+v", m)
	}
}
