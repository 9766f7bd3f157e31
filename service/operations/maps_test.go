package operations

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
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

// TestASlowRegionIsSeenInItsReads checks that a map of reads' latency shows a region whose gets and scans are slow, by each way of reading,
// and no other, and that writes' latency, rows and requests show nothing of it.
func TestASlowRegionIsSeenInItsReads(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil)
	const slow, regions, patience = 5, 16, 200 * time.Millisecond // the region of the keys that begin with 5
	remove := b.stack.HBase().Control("", func(r *embedded.Request) *embedded.Outcome {
		if r.Method != "Get" && r.Method != "Scan" && r.Method != "Multi" || !slices.Equal(r.Tables(), []string{scansTable}) ||
			!slices.ContainsFunc(r.Rows(), func(row []byte) bool { return bytes.HasPrefix(row, []byte("5")) }) {
			return nil
		}
		r.Keep()
		return &embedded.Outcome{Delay: patience}
	})
	defer remove()
	c, ctx := b.service.Client(), t.Context()
	read := map[string]func(row []byte) error{
		"get":  func(row []byte) error { _, err := c.Get(ctx, scansTable, hbase.Get{Row: row}); return err },
		"gets": func(row []byte) error { _, err := c.GetAll(ctx, scansTable, []hbase.Get{{Row: row}}); return err },
		"scan": func(row []byte) error {
			for _, err := range c.Scan(ctx, scansTable, hbase.Scan{Start: row, Stop: append(slices.Clone(row), 0)}) {
				return err
			}
			return nil
		},
	}
	for name, by := range read {
		for n := range regions {
			if err := by([]byte{"0123456789abcdef"[n], 'x'}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	m, err := b.HeatMap(ctx, scansTable, client.HeatMapOf{Metric: "read_latency", Minutes: 15})
	if err != nil || len(m.ReadLatency) != regions {
		t.Fatalf("%+v, %v", m, err)
	}
	for n, line := range m.ReadLatency {
		if most := slices.Max(line); most <= 0 || (most >= patience.Seconds()*1000) != (n == slow) {
			t.Errorf("reads of the region from %q take up to %.1f ms", m.Starts[n], most)
		}
	}
	for _, metric := range []string{"latency", "rows"} {
		if m, err := b.HeatMap(ctx, scansTable, client.HeatMapOf{Metric: metric, Minutes: 15}); err != nil || m.Most != 0 || m.ReadLatency != nil {
			t.Errorf("%s: %+v, %v", metric, m, err)
		}
	}
}

// TestAHotSpotIsGivenByKindsAndValues checks that clients in other languages have all that the English texts say.
func TestAHotSpotIsGivenByKindsAndValues(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil)
	o := New(b.service, slog.New(slog.DiscardHandler))
	t.Cleanup(o.Close)
	spot := skew.HotSpot{Table: scansTable, Cause: skew.HeavyKey, Why: "why", Values: skew.Values{"percent": 80},
		Heavy: &skew.Heavy{Text: "courier=C1"},
		Actions: []skew.Action{
			{Kind: skew.Split, Table: scansTable, Region: "r", At: skew.Key("f8"), AtText: "waybill=W1", Text: "split",
				Effect: &skew.Effect{Before: 4, After: 2}},
			{Kind: skew.Salt, Table: scansTable, Buckets: 16, Fields: []string{"waybill"}, Text: "salt"},
		}}
	got := o.hotSpot(&spot, nil)
	if got.Values["percent"] != 80 || got.Key != "courier=C1" || len(got.Advice) != 2 || len(got.Remedies) != 2 {
		t.Fatalf("%+v", got)
	}
	split, salt := got.Remedies[0], got.Remedies[1]
	if split.Kind != "split" || split.Region != "r" || split.At != "f8" || split.AtText != "waybill=W1" || split.Effect == nil || split.Effect.After != 2 {
		t.Errorf("%+v", split)
	}
	if salt.Kind != "salt" || salt.Buckets != 16 || !slices.Equal(salt.Fields, []string{"waybill"}) || salt.At != "" || salt.Effect != nil {
		t.Errorf("%+v", salt)
	}
}
