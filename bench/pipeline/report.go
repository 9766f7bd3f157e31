package pipeline

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

// judge compares the measurements with the targets.
func (b *bench) judge() {
	o, p := b.counted(ours), b.counted(packed)
	compared := func(client, than string, of func(measure.Load) float64) measure.Estimate {
		return measure.Compared(b.counted(client), b.counted(than), o, b.counted(ours+measure.Again), of)
	}
	rows := func(client, than string) measure.Estimate { return compared(client, than, measure.Load.RowsPerSecond) }
	b.report.Targets = []measure.Target{
		measure.AtLeast("pipeline.rows_of_java", rows(ours, theirs), 1),
		measure.AtLeast("pipeline.packed_rows_of_java", rows(packed, theirs), 1.4),
		measure.AtLeast("pipeline.replay_of_live", rows(replayed, ours), 0.95),
		measure.AtMost("pipeline.cpu_us", measure.RepeatedLoads(o, measure.Load.ClientMicros), 6),
		measure.AtMost("pipeline.peak_mib", measure.RepeatedLoads(o, measure.Load.Peak), 128),
		measure.AtMost("pipeline.packed_peak_mib", measure.RepeatedLoads(p, measure.Load.Peak), 128),
		measure.AtMost("pipeline.small_own_mib", measure.RepeatedLoads(b.counted(small), measure.Load.Own), smallMiB),
		measure.AtMost("pipeline.small_cpu", compared(small, ours, measure.Load.ClientMicros), 1.1),
	}
}

// text returns the section of the page.
func (b *bench) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s Medians of %d rounds of %d events each, keys of %d bytes, values of %d bytes in %d columns; ratios are medians "+
		"over the rounds.\n\n",
		b.report.Heading(), b.rounds, b.events, b.shape.KeyBytes, b.shape.ValueBytes, b.shape.Columns)
	s.WriteString("| | events/s | CPU µs/event | server CPU µs/event | peak MiB | of its own |\n|---|---|---|---|---|---|\n")
	for _, c := range []struct{ client, name string }{
		{ours, "brine, Kafka to HBase"},
		{small, fmt.Sprintf("brine, Kafka to HBase, in %d MiB of its own", smallMiB)},
		{packed, "brine, Kafka to HBase, packed into one cell"},
		{replayed, "brine replay, Kafka to HBase"},
		{theirs, fmt.Sprintf("Java BufferedMutator, no Kafka, %d threads × %d MiB", threads, buffer>>20)},
	} {
		own := "–"
		if c.client != replayed && c.client != theirs { // which are not watched
			own = fmt.Sprintf("%.0f", measure.Median(b.counted(c.client), measure.Load.Own))
		}
		fmt.Fprintf(&s, "| %s | %s | %s |\n", c.name, measure.Cells(b.counted(c.client)), own)
	}
	return s.String() + "\n" + measure.TargetTable(b.report.Targets)
}
