package main

import (
	"fmt"
	"strings"

	"brine/bench/measure"
)

func (b *bench) counted() (o, t []measure.Load) {
	return measure.Counted(b.report.Loads, ours, columns), measure.Counted(b.report.Loads, theirs, columns)
}

// judge sets what was measured against the targets.
func (b *bench) judge() {
	o, t := b.counted()
	b.report.Targets = []measure.Target{
		{Name: "pipeline.rows_of_java", Value: measure.Ratio(o, t, measure.Load.RowsPerSecond), Bound: 1, Least: true},
		{Name: "pipeline.cpu_us", Value: measure.Median(o, measure.Load.ClientMicros), Bound: 6},
		{Name: "pipeline.peak_mib", Value: measure.Median(o, measure.Load.Peak), Bound: 128},
	}
}

// text is the section of the page.
func (b *bench) text() string {
	o, t := b.counted()
	var s strings.Builder
	fmt.Fprintf(&s, "%s Medians of %d rounds of %d events each, keys of %d bytes, values of %d bytes in %d columns; the ratio is the median over the rounds.\n\n",
		b.report.Heading(), b.rounds, b.events, b.shape.KeyBytes, b.shape.ValueBytes, columns)
	s.WriteString("| | events/s | CPU µs/event | server CPU µs/event | peak MiB |\n|---|---|---|---|---|\n")
	for _, c := range []struct {
		name  string
		loads []measure.Load
	}{
		{"brine, Kafka to HBase", o},
		{fmt.Sprintf("Java BufferedMutator, no Kafka, %d threads × %d MiB", threads, buffer>>20), t},
	} {
		fmt.Fprintf(&s, "| %s | %.0f | %.2f | %.2f | %.0f |\n", c.name, measure.Median(c.loads, measure.Load.RowsPerSecond),
			measure.Median(c.loads, measure.Load.ClientMicros), measure.Median(c.loads, measure.Load.ServerMicros), measure.Median(c.loads, measure.Load.Peak))
	}
	return s.String() + "\n" + measure.TargetTable(b.report.Targets)
}
