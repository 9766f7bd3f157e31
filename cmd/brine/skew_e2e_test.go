package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
	"brine/metrics"
	"brine/rowkey"
	"brine/schema/regions"
	"brine/service"
	"brine/skew"
)

// hotBench writes the tables of all cases at a steady rate by its own clock, and watches them, as a running brine does.
type hotBench struct {
	clock  *steppedClock
	client *hbase.Client
	mutate *hbase.Mutator
	tables *skew.Tables
	cases  []*hotCase
}

// steppedClock advances only when it is moved, so that the speed of the servers and the machine does not affect the results.
type steppedClock struct{ moved atomic.Int64 }

var steppedFrom = time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)

func (c *steppedClock) Now() time.Time       { return steppedFrom.Add(time.Duration(c.moved.Load())) }
func (c *steppedClock) Step(d time.Duration) { c.moved.Add(int64(d)) }

func newHotBench(t *testing.T, connect string) *hotBench {
	clock := &steppedClock{}
	b := &hotBench{clock: clock, tables: skew.NewTables(clock.Now), cases: hotCases(t, clock.Now)}
	var err error
	if b.client, err = hbase.Open(t.Context(), hbase.Options{Connect: connect, Hooks: metrics.HBase(prometheus.NewRegistry(), b.tables)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.client.Close() })
	if b.mutate, err = b.client.Mutator(hbase.MutatorOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, h := range b.cases {
		b.create(t, h)
	}
	return b
}

// create creates the table of a case under a name of its own.
func (b *hotBench) create(t *testing.T, h *hotCase) {
	t.Helper()
	h.table = testenv.Name(t) + "_" + h.table
	if err := b.client.CreateTable(t.Context(), hbase.Table{Name: h.table, Families: []hbase.Family{{Name: "e"}}}, h.splits); err != nil {
		t.Fatal(err)
	}
	name := h.table
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(b.client.DisableTable(ctx, name), b.client.DeleteTable(ctx, name)); err != nil {
			t.Log(err)
		}
	})
	regions, err := b.client.Regions(t.Context(), h.table)
	if err != nil {
		t.Fatal(err)
	}
	b.tables.Counter(h.table, service.ShapeOf(rowkey.One(h.key))).SetRegions(service.SkewRegions(regions))
}

// write writes 1,000 rows per second, by the clock, into each table, and calls each once per second, until each returns that it is enough
// or this many seconds have passed.
func (b *hotBench) write(t *testing.T, seconds int, hot bool, each func() bool) {
	t.Helper()
	const ticks, rows = 10, 100
	for n := 1; n <= seconds*ticks; n++ {
		b.clock.Step(time.Second / ticks)
		var flights []*hbase.Flight
		for _, h := range b.cases {
			batch := hbase.NewBatch(h.table)
			for range rows {
				batch.Mutate(h.row(t, h.event(hot)))
				batch.Put([]byte("e"), []byte("a"), int64(n), []byte("value"))
			}
			flights = append(flights, b.mutate.Submit(t.Context(), batch))
		}
		for _, f := range flights {
			if failed, err := f.Wait(t.Context()); err != nil || len(failed) > 0 {
				t.Fatal(failed, err)
			}
		}
		if n%ticks == 0 {
			b.tables.Observe()
			if each != nil && each() {
				return
			}
		}
	}
}

// spots returns the hottest spot of each table that has one.
func (b *hotBench) spots() map[string]skew.HotSpot {
	out := map[string]skew.HotSpot{}
	for _, s := range b.tables.Advise() {
		if _, ok := out[s.Table]; !ok && s.Region != nil {
			out[s.Table] = s
		}
	}
	return out
}

// TestHotRegionsAreFoundAndFixed makes regions hot in three ways, waits until they are found with their cause, follows the advice, and
// compares the result with the prediction.
func TestHotRegionsAreFoundAndFixed(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		foundAndFixed(t, newHotBench(t, "rpc://"+server.Addr()))
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		foundAndFixed(t, newHotBench(t, testenv.HBase(t)))
	})
}

func foundAndFixed(t *testing.T, b *hotBench) {
	b.write(t, 8, false, func() bool {
		if spots := b.spots(); len(spots) > 0 {
			t.Errorf("even loads raise %+v", slices.Collect(maps.Values(spots)))
		}
		return false
	})
	began := b.clock.Now()
	b.write(t, 60, true, func() bool {
		all, spots, passed := true, b.spots(), b.clock.Now().Sub(began)
		for _, h := range b.cases {
			if s, ok := spots[h.table]; ok && h.found == 0 && s.Cause == h.cause && h.hits(t, s.Region) {
				h.found = passed
			}
			all = all && h.found > 0
		}
		return all && passed > 13*time.Second // the prediction uses the last ten seconds
	})
	spots := b.spots()
	for _, h := range b.cases {
		h.spot = spots[h.table]
		if h.found == 0 || h.found > 10*time.Second {
			t.Errorf("%s: region and cause found after %v: %+v", h.table, h.found, h.spot)
		}
		if h.spot.Cause != h.cause || len(h.spot.Actions) == 0 || h.spot.Actions[0].Kind != h.action {
			t.Fatalf("%s: %+v", h.table, h.spot)
		}
		h.effect = *h.spot.Actions[0].Effect
		b.fix(t, h)
	}
	b.write(t, 12, true, nil)
	for _, h := range b.cases {
		got := b.tables.Counter(h.table, skew.Shape{}).Report().Now.MaxMean
		t.Logf("%s: found after %.1f s; %s; %s; max/mean %.2f, foreseen %.2f, %.2f it is", h.cause, h.found.Seconds(), h.spot.Why, h.spot.Actions[0].Text, h.effect.Before, h.effect.After, got)
		if got < 0.8*h.effect.After || got > 1.2*h.effect.After {
			t.Errorf("%s: max/mean %.2f, foreseen %.2f", h.table, got, h.effect.After)
		}
	}
}

// fix follows the advice: it splits the region, or writes into a new table with the salt.
func (b *hotBench) fix(t *testing.T, h *hotCase) {
	t.Helper()
	a := h.spot.Actions[0]
	if a.Kind == skew.Split {
		if err := regions.Apply(t.Context(), b.client, a); err != nil {
			t.Fatal(err)
		}
		return
	}
	var err error
	h.key = hotKey(t, h.salted)
	if h.splits, err = h.key.Splits(a.Buckets); err != nil {
		t.Fatal(err)
	}
	h.table = "salted"
	b.create(t, h)
}
