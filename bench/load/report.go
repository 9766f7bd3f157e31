package main

import (
	"fmt"
	"strings"

	"brine/bench/measure"
)

// judge sets what was measured against the targets.
func (b *bench) judge() {
	for _, columns := range []int{4, 1} {
		o, t := measure.Counted(b.report.Loads, ours, columns), measure.Counted(b.report.Loads, theirs, columns)
		name := fmt.Sprintf("load.%dcolumns.", columns)
		b.report.Targets = append(b.report.Targets,
			measure.Target{Name: name + "rows_of_java", Value: measure.Ratio(o, t, measure.Load.RowsPerSecond), Bound: 1.10, Least: true},
			measure.Target{Name: name + "cpu_of_java", Value: measure.Ratio(o, t, measure.Load.ClientMicros), Bound: 0.35},
			measure.Target{Name: name + "peak_mib", Value: measure.Median(o, measure.Load.Peak), Bound: 64})
	}
	o, t := measure.Counted(b.report.Loads, ours, 1), measure.Counted(b.report.Loads, evaluation, 1)
	b.report.Targets = append(b.report.Targets,
		measure.Target{Name: "load.1columns.rows_of_pe", Value: measure.Ratio(o, t, measure.Load.RowsPerSecond), Bound: 1.10, Least: true})
}

// text is the section of the page.
func (b *bench) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s Medians of %d rounds of %d rows each; ratios are medians over the rounds.\n\n", b.report.Heading(), b.rounds, b.rows)
	s.WriteString("| client | columns | rows/s | client CPU µs/row | server CPU µs/row | peak MiB |\n|---|---|---|---|---|---|\n")
	for _, columns := range []int{4, 1} {
		for _, c := range []struct{ id, name string }{
			{ours, "brine, 4 goroutines × batches of 1000"},
			{theirs, fmt.Sprintf("Java BufferedMutator, 4 threads × %d MiB", buffers[columns]>>20)},
			{evaluation, "PerformanceEvaluation randomWrite, 4 clients"},
		} {
			l := measure.Counted(b.report.Loads, c.id, columns)
			if len(l) == 0 {
				continue
			}
			fmt.Fprintf(&s, "| %s | %d | %s |\n", c.name, columns, measure.Cells(l))
		}
	}
	return s.String() + "\n" + measure.TargetTable(b.report.Targets)
}
