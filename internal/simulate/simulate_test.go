package simulate

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/bench/measure"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "the one seed to run, with a log")
	timesFlag = flag.Int("times", 1, "how often to run that seed")
	firstFlag = flag.Uint64("first", 1, "the first of the seeds to run")
	pageFlag  = flag.String("page", "", "the page to write what came of all seeds into")
	seedsFlag = flag.Int("seeds", 0, "how many seeds to run; 0 means as many as a test run has time for")
)

// standstill is how long a seed may take, of real time, until it is said which one does not end.
const standstill = 5 * time.Minute

// run runs one plan in a bubble of its own.
func run(t *testing.T, plan *Plan, bug Bug) (r *Report) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	if *seedFlag != 0 && testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("seed %d: %v", plan.Seed, p))
		}
	}()
	defer time.AfterFunc(standstill, func() {
		fmt.Fprintf(os.Stderr, "seed %d has not ended after %v:\n", plan.Seed, standstill)
		debug.SetTraceback("all")
		panic("a seed does not end")
	}).Stop()
	synctest.Test(t, func(*testing.T) { r = Run(plan, bug, log) })
	return r
}

// held fails the test with what a run has found.
func held(t *testing.T, r *Report) {
	t.Helper()
	if r.Simulated < 10*time.Minute {
		t.Errorf("seed %d has simulated only %v", r.Plan.Seed, r.Simulated)
	}
	if len(r.Findings) > 0 {
		t.Errorf("seed %d:\n%s\nits plan: %v", r.Plan.Seed, strings.Join(r.Findings, "\n"), r.Plan)
	}
}

// Without faults all is well, and of ties the last change is left.
func TestUndisturbed(t *testing.T) {
	p := Draw(1)
	p.Faults = nil
	r := run(t, p, Bug{})
	held(t, r)
	t.Logf("%v simulated, caught up in %v, %+v", r.Simulated, r.CaughtUp, r.Counts)
}

// TestSeed runs one seed that was given, to look at it.
func TestSeed(t *testing.T) {
	if *seedFlag == 0 {
		t.Skip("no -seed")
	}
	p := Draw(*seedFlag)
	t.Log(p)
	for range *timesFlag {
		r := run(t, p, Bug{})
		held(t, r)
		t.Logf("%v simulated, caught up in %v, %+v", r.Simulated, r.CaughtUp, r.Counts)
	}
}

// TestSimulation runs seed after seed, as many at once as there are processors. With a number of seeds given it says how far it
// has come, keeps the plans of those that fail, and can write what came of it into a page.
func TestSimulation(t *testing.T) {
	n, say := *seedsFlag, func(line string) { fmt.Fprintln(os.Stderr, line) }
	if n == 0 {
		n, say = 300, func(string) {}
		if testing.Short() || raceEnabled {
			n = 15
		}
	}
	all := newTally(n)
	t.Run("seeds", func(t *testing.T) {
		var next atomic.Int64
		for i := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
					r := run(t, Draw(*firstFlag+uint64(i)), Bug{})
					all.add(r, say)
					held(t, r)
				}
			})
		}
	})
	all.check(t)
	if *seedsFlag == 0 {
		return
	}
	for _, r := range all.failed {
		if err := keep(r); err != nil {
			t.Error(err)
		}
	}
	if *pageFlag != "" {
		if err := measure.WriteSection(*pageFlag, "simulate", "simulate", all.page(fmt.Sprintf("make simulate SEEDS=%d", n))); err != nil {
			t.Error(err)
		}
	}
}

// check sees that the faults were felt, and that rows which two events share were told of: all but those that the sink's memory,
// in which one row of many thousands displaces another, had lost.
func (y *tally) check(t *testing.T) {
	t.Helper()
	t.Logf("%d seeds, %v simulated, caught up within %v, %+v", y.runs, y.simulated, y.caughtUp, y.counts)
	if c := y.counts; y.runs >= 300 {
		if c.Told < c.Shared*97/100 {
			t.Errorf("10: two events share %d rows, and only %d were told of", c.Shared, c.Told)
		}
		if min(c.Letters, c.Retried, c.CommitsFailed, c.Abandoned, c.Halted) < y.runs/3 || c.Submitted < c.Records*101/100 {
			t.Errorf("the faults of %d seeds are hardly felt: %+v", y.runs, c)
		}
		if len(y.kinds) < len(faults) {
			t.Errorf("only %d of %d kinds of faults were drawn", len(y.kinds), len(faults))
		}
	}
}
