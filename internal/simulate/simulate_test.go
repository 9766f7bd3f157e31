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
)

var (
	seedFlag  = flag.Uint64("seed", 0, "the one seed to run, with a log")
	timesFlag = flag.Int("times", 1, "how often to run that seed")
	firstFlag = flag.Uint64("first", 1, "the first of the seeds to run")
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

// TestSimulation runs seed after seed, as many at once as there are processors.
func TestSimulation(t *testing.T) {
	n := *seedsFlag
	if n == 0 {
		if n = 300; testing.Short() {
			n = 20
		}
	}
	var next atomic.Int64
	for i := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				held(t, run(t, Draw(*firstFlag+uint64(i)), Bug{}))
			}
		})
	}
}
