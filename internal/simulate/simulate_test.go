package simulate

import (
	"flag"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "the one seed to run, with a log")
	seedsFlag = flag.Int("seeds", 0, "how many seeds to run, from 1 on")
)

// run runs one plan in a bubble of its own.
func run(t *testing.T, plan *Plan, bug Bug) (r *Report) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	if *seedFlag != 0 {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	synctest.Test(t, func(*testing.T) { r = Run(plan, bug, log) })
	return r
}

// A plan without faults.
func TestUndisturbed(t *testing.T) {
	p := Draw(1)
	p.Faults = nil
	began := time.Now()
	r := run(t, p, Bug{})
	t.Logf("%v, %v simulated, caught up in %v, %+v", time.Since(began), r.Simulated, r.CaughtUp, r.Counts)
	for _, f := range r.Findings {
		t.Error(f)
	}
}

func TestSeed(t *testing.T) {
	if *seedFlag == 0 {
		t.Skip("no -seed")
	}
	p := Draw(*seedFlag)
	t.Log(p)
	r := run(t, p, Bug{})
	t.Logf("%v simulated, caught up in %v, %+v", r.Simulated, r.CaughtUp, r.Counts)
	for _, f := range r.Findings {
		t.Error(f)
	}
}
