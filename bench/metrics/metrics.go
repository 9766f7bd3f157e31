// Package metrics measures the cost of metrics, skew and tracing to the pipeline: the same records are read from a Kafka and written to an
// embedded HBase, both in another process, with all hooks and without, in alternating rounds. It also measures a scrape of 10,000 regions.
// `make bench-metrics` runs it.
package metrics

import (
	"context"
	"fmt"
	"os"

	"brine/bench/measure"
	"brine/bench/servers"
)

// The modes that are compared: the bare pipeline; with metrics and skew, observed and scraped as at 50,000 events/s; and, in addition, with
// tracing of one record in 10,000.
const (
	bare    = "bare"
	metered = "metrics and skew"
	traced  = "tracing too"
)

// Command is the command line.
type Command struct {
	Events  int    `default:"1500000" help:"Number of events of each load: many, so that startup costs matter little."`
	Rounds  int    `default:"9" help:"Number of measured rounds: costs of a few per cent need many."`
	Profile string `help:"File for a CPU profile of the loads with metrics."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	return measure.Make("bench-metrics", func() error { return run(ctx, c.Events, c.Rounds, c.Profile) })
}

func run(ctx context.Context, events, rounds int, profile string) error {
	dev, err := servers.Start(ctx)
	if err != nil {
		return err
	}
	defer dev.Close()
	from := &source{Dev: dev}
	if err := from.Fill(ctx, events); err != nil {
		return err
	}
	r := measure.NewReport("metrics")
	load := func(mode string, round int) error {
		l, err := from.load(ctx, mode, events, profile)
		if err != nil {
			return err
		}
		l.Round = round
		fmt.Fprintf(os.Stderr, "round %d, %s: %.2f µs CPU/event, %.0f events/s\n", round, mode, l.ClientMicros(), l.RowsPerSecond())
		r.Loads = append(r.Loads, l)
		return nil
	}
	if err := load(bare, 0); err != nil {
		return err
	}
	if err := measure.Alternate(rounds, []string{bare, metered, traced, bare + measure.Again}, load); err != nil {
		return err
	}
	scrape, series, err := scrapeOf(10_000)
	if err != nil {
		return err
	}
	of := func(mode string) []measure.Load { return measure.Counted(r.Loads, mode, 1) }
	cost := func(mode, than string) measure.Estimate { // in percent
		return measure.Compared(of(mode), of(than), of(bare), of(bare+measure.Again), measure.Load.ClientMicros).Plus(-1).Times(100)
	}
	r.Targets = []measure.Target{
		measure.AtMost("metrics.cost_percent", cost(metered, bare), 3),
		measure.AtMost("metrics.tracing_cost_percent", cost(traced, metered), 3),
		measure.AtMost("metrics.scrape_ms", scrape, 50),
		measure.AtMost("metrics.scrape_series", measure.Exactly(float64(series)), 5000),
	}
	return r.Finish(text(r, events, rounds))
}

// text returns the section of the page.
func text(r *measure.Report, events, rounds int) string {
	s := r.Heading() + fmt.Sprintf(" %d scan events from a Kafka to an embedded HBase, both in another process, %d rounds in turns; "+
		"medians, and the costs are medians of the rounds' "+
		"ratios of CPU per event. With metrics and skew, hot regions are looked for every 50,000 events and all is scraped every 750,000, as "+
		"in every second and every 15 s at that rate; tracing follows one record in 10,000 into /dev/null. The scrape is of 10,000 regions "+
		"in 100 "+
		"tables on 200 servers.\n\n| pipeline | CPU per event | events/s |\n|---|---|---|\n", events, rounds)
	for _, mode := range []string{bare, metered, traced} {
		loads := measure.Counted(r.Loads, mode, 1)
		s += fmt.Sprintf("| %s | %.2f µs | %.0f |\n", mode, measure.Median(loads, measure.Load.ClientMicros),
			measure.Median(loads, measure.Load.RowsPerSecond))
	}
	return s + "\n" + measure.TargetTable(r.Targets)
}
