// Command index runs brine from a real Kafka into a real HBase and a real Elasticsearch, while the index is killed and hangs
// again and again, and reports what that did to the rate at which rows are written, and what is wrong with the documents afterwards.
// `make chaos-index` runs it; nothing imports it.
//
// The servers are this run's alone. Events come at a constant rate into two topics: scans, each of which replaces its document, and
// the changes of orders, which are merged into theirs. The index is killed and frozen in turns; in between it is there for a while, so
// that the two rates are of one run.
//
// Read index.yaml (what brine runs), run.go (the whole), progress.go (how far brine is, and the two rates), backlog.go (the rate of
// a backlog, with the index away and without one), report.go. It ends with a line per
// target, `name value target ok|short`, and exits with 1 when one is short.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"brine/bench/measure"
)

func main() {
	r := run{Began: time.Now()}
	flag.IntVar(&r.Faults, "faults", 10, "how often the index is killed or frozen")
	flag.IntVar(&r.Rate, "rate", 600, "events a second, of each topic")
	flag.DurationVar(&r.away, "away", 15*time.Second, "how long it stands still, or is gone before it is started again")
	flag.DurationVar(&r.there, "there", 15*time.Second, "how long it is there between two faults")
	limit := flag.Duration("limit", 45*time.Minute, "longest time for everything")
	whole := flag.Bool("record", true, "write the page and the results")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("not done after %v (-limit)", *limit))
	defer cancel()
	var err error
	if *whole {
		err = measure.Recordable()
	}
	if err == nil {
		err = r.all(ctx)
	}
	if err == nil {
		err = r.finish(*whole)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos-index:", err)
		cancel()
		stop()
		os.Exit(1)
	}
}
