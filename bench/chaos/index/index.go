// Package index runs brine from a real Kafka to a real HBase and a real Elasticsearch while the index is repeatedly killed and frozen. It
// reports the effect on the rate at which rows are written, and what is wrong with the documents afterwards. `make chaos-index` runs it.
//
// The servers belong to this run alone. Events arrive at a constant rate in two topics: scans, each of which replaces its document, and the
// changes of orders, which are merged into theirs. The index is killed and frozen in turn, and is up for a while in between, so that both
// rates come from one run.
//
// Read index.yaml (what brine runs), run.go (the whole), progress.go (how far brine is, and the two rates), backlog.go (the rate of a
// backlog, with the index away and without one), report.go. It ends with a line per target, `name value target ok|short`, and exits with 1
// if any is short.
package index

import (
	"context"
	"fmt"
	"time"

	"brine/bench/measure"
)

// Command is the command line.
type Command struct {
	Faults int           `default:"10" help:"How often the index is killed or frozen."`
	Rate   int           `default:"600" help:"Events per second, for each topic."`
	Away   time.Duration `default:"15s" help:"How long the index stays frozen, or down before it is started again."`
	There  time.Duration `default:"15s" help:"How long the index is up between two faults."`
	Limit  time.Duration `default:"45m" help:"Time limit for everything."`
	Record bool          `default:"true" negatable:"" help:"Write the page and the results."`
}

// Run breaks the index, and verifies.
func (c *Command) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Limit, fmt.Errorf("not done after %v (--limit)", c.Limit))
	defer cancel()
	r := run{Began: time.Now(), Faults: c.Faults, Rate: c.Rate, away: c.Away, there: c.There}
	all := func() error {
		if err := r.all(ctx); err != nil {
			return err
		}
		return r.finish(c.Record)
	}
	if c.Record {
		return measure.Make("chaos-index", all)
	}
	if err := all(); err != nil {
		return fmt.Errorf("chaos-index: %w", err)
	}
	return nil
}
