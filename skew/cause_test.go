package skew

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A wrong first cause would already have been logged and acted upon. So reports must be right from the first moment, whenever the heat
// begins: earlier rows must not be mixed with those that cause it.
func TestCausesAreRightFromTheFirstMomentOn(t *testing.T) {
	for _, tt := range hotLoads {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range seeds(4) {
				rate := []int{600, 4000}[seed%2]
				w := newWorkload(tt.shape, tt.regions(), seed)
				w.run(20+3*int(seed), rate, func() string { return tt.rest(w) }, nil)
				w.tenths(w.rnd.IntN(10), rate, func() string { return tt.rest(w) }) // the heat begins within a second
				for tenth := range 130 {
					w.tenths(1, rate, func() string { return tt.hot(w) })
					if tenth%10 != 0 && tenth > 80 {
						continue
					}
					for _, s := range w.tables.Advise() {
						if s.Cause != tt.cause || !strings.Contains(s.Why, tt.why) || len(s.Actions) == 0 || !strings.HasPrefix(tt.actions, string(s.Actions[0].Kind)) {
							t.Fatalf("seed %d, %d rows a second, after %.1f s: %s: %s; %+v", seed, rate, float64(tenth)/10, s.Cause, s.Why, s.Actions)
						}
					}
				}
				if len(w.tables.Advise()) != len(strings.Fields(tt.region)) {
					t.Errorf("seed %d, %d rows a second: %+v are hot", seed, rate, w.tables.Advise())
				}
			}
		})
	}
}

// tenths writes for n tenths of a second. The counter observes once per second.
func (w *workload) tenths(n, rate int, row func() string) {
	for range n {
		w.write(rate/10, row)
		before := w.clock.now()
		w.clock.pass(time.Second / 10)
		if w.clock.now().Unix() != before.Unix() {
			w.tables.Observe()
		}
	}
}

// With very many regions, too few rows of one are sampled to find a cause: the report says so, and invents nothing.
func TestACauseThatCannotBeFoundIsUnknown(t *testing.T) {
	w := newWorkload(Shape{}, even(8), 1)
	for range 10 {
		for i, r := range w.list {
			rows := int64(100)
			if i == 3 {
				rows = 1000
			}
			w.c.put(r, rows) // their keys are unknown
		}
		w.clock.pass(time.Second)
		w.tables.Observe()
	}
	spots := w.tables.Advise()
	if len(spots) != 1 || spots[0].Cause != "unknown" || spots[0].Why != "too few of its rows were seen to tell (0)" {
		t.Errorf("%+v", spots)
	}
	if got := fmt.Sprint(w.c.Causes()); got != "map[unknown:1]" {
		t.Errorf("causes: %s", got)
	}
}
