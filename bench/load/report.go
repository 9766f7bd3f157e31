package load

import (
	"fmt"
	"strings"

	"brine/bench/measure"
)

// judge compares the measurements with the targets.
func (b *bench) judge() {
	for _, of := range []struct {
		columns int
		ofJava  float64 // rows a second
	}{{4, 1.25}, {1, 1.85}} {
		columns, name := of.columns, fmt.Sprintf("load.%dcolumns.", of.columns)
		b.report.Targets = append(b.report.Targets,
			measure.AtLeast(name+"rows_of_java", b.compared(theirs, columns, measure.Load.RowsPerSecond), of.ofJava),
			measure.AtMost(name+"cpu_of_java", b.compared(theirs, columns, measure.Load.ClientMicros), 0.35),
			measure.AtMost(name+"peak_mib", measure.RepeatedLoads(measure.Counted(b.report.Loads, ours, columns), measure.Load.Peak), 64))
	}
	b.report.Targets = append(b.report.Targets,
		measure.AtMost("load.1columns.cpu_us", measure.RepeatedLoads(measure.Counted(b.report.Loads, ours, 1), measure.Load.ClientMicros), 0.9),
		measure.AtLeast("load.1columns.rows_of_pe", b.compared(evaluation, 1, measure.Load.RowsPerSecond), 1.10))
}

// compared compares our client with another.
func (b *bench) compared(other string, columns int, of func(measure.Load) float64) measure.Estimate {
	counted := func(client string) []measure.Load { return measure.Counted(b.report.Loads, client, columns) }
	return measure.Compared(counted(ours), counted(other), counted(ours), counted(ours+measure.Again), of)
}

// text returns the section of the page.
func (b *bench) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s Medians of %d rounds of %d rows each; ratios are medians over the rounds.\n\n", b.report.Heading(), b.rounds, b.rows)
	s.WriteString("| client | columns | rows/s | client CPU µs/row | server CPU µs/row | peak MiB | of the cores idle |\n" +
		"|---|---|---|---|---|---|---|\n")
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
			fmt.Fprintf(&s, "| %s | %d | %s | %.0f %% |\n", c.name, columns, measure.Cells(l), measure.Median(l, measure.Load.Idle))
		}
	}
	return s.String() + "\n" + measure.TargetTable(b.report.Targets)
}
