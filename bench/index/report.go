package index

import (
	"fmt"
	"strings"

	"brine/bench/measure"
)

// judge compares the measurements with the targets.
func (b *bench) judge() {
	o := b.of(ours)
	compared := func(client, than string, of func(measure.Load) float64) measure.Estimate {
		return measure.Compared(b.of(client), b.of(than), o, b.of(ours+measure.Again), of)
	}
	b.report.Targets = []measure.Target{
		measure.AtLeast("index.documents_of_esutil", compared(ours, b.best(), measure.Load.RowsPerSecond), 1),
		measure.AtMost("index.cpu_of_esutil", compared(ours, b.best(), measure.Load.ClientMicros), 0.7),
		measure.AtMost("index.peak_mib", measure.RepeatedLoads(o, measure.Load.Peak), 128),
		measure.AtMost("index.partial_peak_mib", measure.RepeatedLoads(b.of(partial), measure.Load.Peak), 128),
		measure.AtLeast("index.partial_of_whole", compared(partial, ours, measure.Load.RowsPerSecond), 0.5),
	}
}

func (b *bench) of(client string) []measure.Load {
	return measure.Counted(b.report.Loads, client, columns)
}

// best returns the fastest setting of the BulkIndexer.
func (b *bench) best() string {
	best, rate := "", 0.0
	for _, s := range settings {
		if r := measure.Median(b.of(s.name), measure.Load.RowsPerSecond); r > rate {
			best, rate = s.name, r
		}
	}
	return best
}

// text returns the section of the page.
func (b *bench) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s Medians of %d rounds of %d changes each; ratios are medians over the rounds, against the fastest setting of the "+
		"BulkIndexer.\n\n",
		b.report.Heading(), b.rounds, b.documents)
	s.WriteString("| client | changes/s | client CPU µs/change | server CPU µs/change | peak MiB |\n|---|---|---|---|---|\n")
	row := func(name, client string) { fmt.Fprintf(&s, "| %s | %s |\n", name, measure.Cells(b.of(client))) }
	row("brine, whole documents", ours)
	row("brine, partial changes, four of each document", partial)
	for _, set := range settings {
		row(fmt.Sprintf("esutil.BulkIndexer, %d workers, flush at %d MB", set.workers, set.flush/1_000_000), set.name)
	}
	return s.String() + "\n" + measure.TargetTable(b.report.Targets)
}
