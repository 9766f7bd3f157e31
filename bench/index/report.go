package main

import (
	"fmt"
	"strings"

	"brine/bench/measure"
)

// judge sets what was measured against the targets.
func (b *bench) judge() {
	o, p, best := b.of(ours), b.of(partial), b.of(b.best())
	b.report.Targets = []measure.Target{
		{Name: "index.documents_of_esutil", Value: measure.Ratio(o, best, measure.Load.RowsPerSecond), Bound: 1.0, Least: true},
		{Name: "index.cpu_of_esutil", Value: measure.Ratio(o, best, measure.Load.ClientMicros), Bound: 0.7},
		{Name: "index.peak_mib", Value: max(measure.Median(o, measure.Load.Peak), measure.Median(p, measure.Load.Peak)), Bound: 128},
		{Name: "index.partial_of_whole", Value: measure.Ratio(p, o, measure.Load.RowsPerSecond), Bound: 0.5, Least: true},
	}
}

func (b *bench) of(client string) []measure.Load {
	return measure.Counted(b.report.Loads, client, columns)
}

// best is the fastest setting of the BulkIndexer.
func (b *bench) best() string {
	best, rate := "", 0.0
	for _, s := range settings {
		if r := measure.Median(b.of(s.name), measure.Load.RowsPerSecond); r > rate {
			best, rate = s.name, r
		}
	}
	return best
}

// text is the section of the page.
func (b *bench) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s Medians of %d rounds of %d changes each; ratios are medians over the rounds, against the fastest setting of the BulkIndexer.\n\n",
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
