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

	"brine/internal/testenv"
	"brine/sink"
)

var (
	seedFlag   = flag.Uint64("seed", 0, "the one seed to run, with a log")
	timesFlag  = flag.Int("times", 1, "how often to run that seed")
	firstFlag  = flag.Uint64("first", 0, "the first of the seeds to run; 0: 1, or the first that is not in the record")
	seedsFlag  = flag.Int("seeds", 0, "how many seeds to run; 0 means as many as a test run has time for")
	recordFlag = flag.String("record", "", "the file to add what came of the seeds to")
	pageFlag   = flag.String("page", "", "the page to write what the record adds up to into")
)

// standstill is how long a seed may take, in real time, until it is reported as not ending.
const standstill = 5 * time.Minute

// run runs one plan in its own bubble.
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

// held fails the test with a run's findings.
func held(t *testing.T, r *Report) {
	t.Helper()
	if r.Simulated < 10*time.Minute {
		t.Errorf("seed %d has simulated only %v", r.Plan.Seed, r.Simulated)
	}
	if len(r.Findings) > 0 {
		t.Errorf("seed %d:\n%s\nits plan: %v", r.Plan.Seed, strings.Join(r.Findings, "\n"), r.Plan)
	}
}

// Without faults, all is well in every format, and the last change of each tie wins.
func TestUndisturbed(t *testing.T) {
	for format := range encoders {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			p := Draw(1)
			p.Faults, p.Format, p.Filter, p.Nulls, p.Poison, p.Records = nil, format, format != "json", 0.01, 0.05, 1000
			r := run(t, p, Bug{})
			held(t, r)
			t.Logf("%v simulated, caught up in %v, %+v", r.Simulated, r.CaughtUp, r.Counts)
		})
	}
	for _, otherwise := range []sink.Otherwise{sink.Skip, sink.Delete} {
		t.Run("otherwise "+string(otherwise), func(t *testing.T) {
			t.Parallel()
			p := Draw(1)
			p.Faults, p.Format, p.Filter, p.Tombstones, p.Otherwise = nil, "json", otherwise == sink.Skip, otherwise == sink.Delete, otherwise
			p.Nulls, p.Poison, p.Records = 0.1, 0.05, 1000
			held(t, run(t, p, Bug{}))
		})
	}
	for format, filter := range map[string]bool{"json": true, "avro": false} {
		t.Run(format+" with tombstones", func(t *testing.T) {
			t.Parallel()
			p := Draw(1)
			p.Faults, p.Format, p.Filter, p.Tombstones, p.Nulls, p.Poison, p.Records = nil, format, filter, true, 0.1, 0.05, 1000
			r := run(t, p, Bug{})
			held(t, r)
			if r.Tombstones < 50 {
				t.Errorf("only %d tombstones: %+v", r.Tombstones, r.Counts)
			}
		})
	}
}

// TestSeed runs one given seed, for examination.
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

// TestSimulation runs seed after seed. With a record, it reports progress, and keeps the plans of those that fail.
func TestSimulation(t *testing.T) {
	switch n := *seedsFlag; {
	case n > 0 && *recordFlag != "":
		recorded(t, *firstFlag, n, *recordFlag, *pageFlag)
		return
	case n > 0:
		seeds(t, max(1, *firstFlag), n, func(line string) { fmt.Fprintln(os.Stderr, line) })
	case testing.Short() || testenv.Race:
		seeds(t, 1, 15, func(string) {})
	default:
		seeds(t, 1, 300, func(string) {})
	}
}

// seeds runs n seeds, as many at once as there are processors.
func seeds(t *testing.T, first uint64, n int, say func(string)) *tally {
	t.Helper()
	all := newTally(first, n, say)
	t.Run("seeds", func(t *testing.T) {
		var next atomic.Int64
		for i := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
					r := run(t, Draw(first+uint64(i)), Bug{})
					all.add(r)
					held(t, r)
				}
			})
		}
	})
	all.check(t)
	return all
}
