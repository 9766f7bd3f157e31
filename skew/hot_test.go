package skew

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestHotRegionsAreFoundWithinTenSeconds(t *testing.T) {
	for _, tt := range hotLoads {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorkload(tt.shape, tt.regions(), 1)
			rest := func() string { return tt.rest(w) }
			w.run(40, 2000, rest, nil)
			if spots := w.tables.Advise(); len(spots) > 0 {
				t.Fatalf("an even load raises %+v", spots)
			}
			after := w.run(60, 2000, func() string { return tt.hot(w) }, func() bool { return len(w.tables.Advise()) >= len(strings.Fields(tt.region)) })
			if after > 10 {
				t.Errorf("found after %d seconds", after)
			}
			w.run(12, 2000, func() string { return tt.hot(w) }, nil) // the cause is derived from the rows of the last seconds
			var names []string
			for _, s := range w.tables.Advise() {
				names = append(names, s.Region.Name)
				var actions []string
				for _, a := range s.Actions {
					actions = append(actions, string(a.Kind))
				}
				if s.Cause != tt.cause || !strings.Contains(s.Why, tt.why) || strings.Join(actions, ", ") != tt.actions {
					t.Errorf("cause %q, why %q, actions %q", s.Cause, s.Why, actions)
				}
				if len(s.Values) == 0 {
					t.Errorf("why %q has no values", s.Why)
				}
				for name, n := range s.Values {
					whole, tenths := strconv.FormatFloat(n, 'f', 0, 64), strconv.FormatFloat(n, 'f', 1, 64)
					if !strings.Contains(s.Why, whole) && !strings.Contains(s.Why, tenths) {
						t.Errorf("why %q lacks %s: %v", s.Why, name, n)
					}
				}
			}
			if got := sortedText(names); got != tt.region {
				t.Errorf("regions %s are hot, want %s", got, tt.region)
			}
			w.run(30, 2000, rest, nil)
			if spots := w.tables.Advise(); len(spots) > 0 {
				t.Errorf("hot still: %+v", spots)
			}
		})
	}
}

// seeds returns the number of seeds that a test draws: one in a short run, as CI makes it under the race detector, for which a single
// goroutine does everything.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return 1
	}
	return n
}

func TestSplitsComeTrueWhereTheyAreForeseen(t *testing.T) {
	for seed := range seeds(20) {
		w := newWorkload(Shape{Head: upToBar}, even(8), seed)
		center, spread := 500+w.rnd.IntN(9000), 50+w.rnd.IntN(400)
		row := func() string {
			if w.rnd.IntN(2) == 0 {
				return fmt.Sprintf("%04d|%s", min(9999, max(0, center+int(float64(spread)*w.rnd.NormFloat64()))), w.digits())
			}
			return w.digits() + "|" + w.digits()
		}
		w.run(30, 3000, row, nil)
		spots := w.tables.Advise()
		if len(spots) == 0 || len(spots[0].Actions) == 0 || spots[0].Actions[0].Kind != Split {
			continue
		}
		a := spots[0].Actions[0]
		i := 0
		for w.list[i].Name != a.Region {
			i++
		}
		low, high := w.list[i], w.list[i]
		low.Name, low.ID, low.End = "low", 2, a.At
		high.Name, high.ID, high.Start = "high", 2, a.At
		w.list = append(append(append([]Region{}, w.list[:i]...), low, high), w.list[i+1:]...)
		w.c.SetRegions(w.list)
		w.run(11, 3000, row, nil)
		rows := []float64{}
		for _, l := range w.c.read().Regions {
			rows = append(rows, float64(l.now))
		}
		if got := Measure(rows).MaxMean; got < 0.8*a.Effect.After || got > 1.2*a.Effect.After {
			t.Errorf("seed %d: %s: max/mean %.2f was foreseen (from %.2f), %.2f it is", seed, a.Text, a.Effect.After, a.Effect.Before, got)
		}
	}
}

func TestEvenLoadsRaiseNothing(t *testing.T) {
	for seed := range uint64(1000) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		n := []int{2, 3, 4, 16, 64, 300}[rnd.IntN(6)]
		w := newWorkload(Shape{}, even(n), seed)
		rate := 10 << rnd.IntN(12) // 10 to 20,480 rows per second in total
		for range 30 {
			for i := range w.list { // nearly Poisson-distributed
				mean := float64(rate) / float64(n)
				if rows := int64(mean + rnd.NormFloat64()*sqrt(mean) + 0.5); rows > 0 {
					w.c.put(w.list[i], rows)
				}
			}
			w.clock.pass(time.Second)
			if w.tables.Observe() {
				t.Fatalf("seed %d: %d regions, %d rows a second: %+v", seed, n, rate, w.tables.Advise())
			}
		}
	}
}

func TestHeatHasAFloorAndDoesNotFlap(t *testing.T) {
	w := newWorkload(Shape{}, even(4), 1)
	put := func(seconds int, rows ...int64) (changes int) {
		hot := w.tables.Observe()
		for range seconds {
			for i, n := range rows {
				w.c.put(w.list[i], n)
			}
			w.clock.pass(time.Second)
			if now := w.tables.Observe(); now != hot {
				hot, changes = now, changes+1
			}
		}
		return changes
	}
	if n := put(60, 0, hotFloor-5, 0, 0); n != 0 {
		t.Error("below the floor nothing is hot")
	}
	if n := put(30, 100, 160, 100, 100); n != 0 { // 1.39 times the mean
		t.Error("a little more than the mean is not hot")
	}
	if n := put(10, 100, 400, 100, 100); n != 1 {
		t.Errorf("%d changes on becoming hot", n)
	}
	changes := 0
	for range 10 { // 1.39 and 1.6 times the mean
		changes += put(5, 100, 160, 100, 100) + put(5, 100, 200, 100, 100)
	}
	if changes != 0 {
		t.Errorf("it changed %d times between hot and not", changes)
	}
	if n := put(20, 100, 110, 100, 100); n != 1 {
		t.Errorf("%d changes on cooling down", n)
	}
	if n := put(5, 0, 0, 0, 0) + put(2, 600, 2400, 600, 600) + put(20, 100, 110, 100, 100); n != 0 {
		t.Error("a backlog that comes at once makes nothing hot")
	}
}

func TestALoadedServerIsFoundWithTheMoveThatHelps(t *testing.T) {
	clock := newClock()
	tables := NewTables(clock.now)
	var list []Region
	for i, r := range even(12) { // nine regions on s0, three on s1, none on s2
		if r.Server = "s0"; i >= 9 {
			r.Server = "s1"
		}
		list = append(list, r)
	}
	tables.Counter("t", Shape{}).SetRegions(list)
	tables.SetServers([]string{"s0", "s1", "s2"})
	for range 12 {
		for _, r := range list {
			tables.Counter("t", Shape{}).put(r, 100)
		}
		clock.pass(time.Second)
		tables.Observe()
	}
	spots := tables.Advise()
	if len(spots) != 1 || spots[0].Cause != LoadedServer || spots[0].Server != "s0" || len(spots[0].Actions) != 1 {
		t.Fatalf("%+v", spots)
	}
	if n := tables.LoadedServers(tables.Recent()); n != 1 {
		t.Errorf("%d loaded servers", n)
	}
	a := spots[0].Actions[0]
	if a.Kind != Move || a.To != "s2" || a.Effect.Before != 2.25 || a.Effect.After != 2 {
		t.Errorf("%+v %+v", a, a.Effect)
	}
	rep := tables.Counter("t", Shape{}).Report()
	if len(rep.Servers) != 2 || rep.Servers[0].Regions != 9 || rep.ServerRegions.MaxMean != 1.5 || rep.ServerWrites.MaxMean != 1.5 {
		t.Errorf("%+v", rep.Servers)
	}
}
