package main

import (
	"fmt"
	"strings"

	"brine/bench/measure"
)

func (b *bench) counted(client string) []measure.Load {
	columns := examples[ours].columns // Java's too
	if x, ok := examples[client]; ok {
		columns = x.columns
	}
	return measure.Counted(b.report.Loads, client, columns)
}

// judge sets what was measured against the targets.
func (b *bench) judge() {
	o, p, r, t := b.counted(ours), b.counted(packed), b.counted(replayed), b.counted(theirs)
	b.report.Targets = []measure.Target{
		{Name: "pipeline.rows_of_java", Value: measure.Ratio(o, t, measure.Load.RowsPerSecond), Bound: 1, Least: true},
		{Name: "pipeline.packed_rows_of_java", Value: measure.Ratio(p, t, measure.Load.RowsPerSecond), Bound: 1.4, Least: true},
		{Name: "pipeline.replay_of_live", Value: measure.Ratio(r, o, measure.Load.RowsPerSecond), Bound: 0.95, Least: true},
		{Name: "pipeline.cpu_us", Value: measure.Median(o, measure.Load.ClientMicros), Bound: 6},
		{Name: "pipeline.peak_mib", Value: measure.Median(o, measure.Load.Peak), Bound: 128},
		{Name: "pipeline.packed_peak_mib", Value: measure.Median(p, measure.Load.Peak), Bound: 128},
	}
}

// text is the section of the page.
func (b *bench) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s Medians of %d rounds of %d events each, keys of %d bytes, values of %d bytes in %d columns; ratios are medians over the rounds.\n\n",
		b.report.Heading(), b.rounds, b.events, b.shape.KeyBytes, b.shape.ValueBytes, b.shape.Columns)
	s.WriteString("| | events/s | CPU µs/event | server CPU µs/event | peak MiB |\n|---|---|---|---|---|\n")
	for _, c := range []struct{ client, name string }{
		{ours, "brine, Kafka to HBase"},
		{packed, "brine, Kafka to HBase, packed into one cell"},
		{replayed, "brine replay, Kafka to HBase"},
		{theirs, fmt.Sprintf("Java BufferedMutator, no Kafka, %d threads × %d MiB", threads, buffer>>20)},
	} {
		fmt.Fprintf(&s, "| %s | %s |\n", c.name, measure.Cells(b.counted(c.client)))
	}
	return s.String() + "\n" + measure.TargetTable(b.report.Targets)
}
