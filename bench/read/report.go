package read

import (
	"fmt"
	"strings"

	"brine/bench/measure"
)

// judge compares the measurements with the targets.
func (b *bench) judge() {
	b.report.Targets = []measure.Target{
		measure.AtLeast("read.gets_of_java", b.compared(gets, measure.Load.RowsPerSecond), 1.3),
		measure.AtMost("read.gets.cpu_of_java", b.compared(gets, measure.Load.ClientMicros), 0.4),
		measure.AtMost("read.gets.p99_of_java", b.compared(gets, measure.Load.Late), 1),
		measure.AtLeast("read.many_gets_of_java", b.compared(manyGets, measure.Load.RowsPerSecond), 1.3),
		measure.AtMost("read.many_gets.cpu_of_java", b.compared(manyGets, measure.Load.ClientMicros), 0.4),
		measure.AtMost("read.many_gets.p99_of_java", b.compared(manyGets, measure.Load.Late), 1),
		measure.AtLeast("read.scanned_rows_of_java", b.compared(scans, measure.Load.RowsPerSecond), 1),
		measure.AtMost("read.scans.cpu_of_java", b.compared(scans, measure.Load.ClientMicros), 0.4),
	}
}

// compared compares our client with Java's.
func (b *bench) compared(k kind, of func(measure.Load) float64) measure.Estimate {
	return measure.Compared(b.counted(k, ours), b.counted(k, theirs), b.counted(k, ours), b.counted(k, ours+measure.Again), of)
}

func (b *bench) counted(k kind, client string) []measure.Load {
	return measure.Counted(b.report.Loads, loads(k, client), b.shape.Columns)
}

// text returns the section of the page.
func (b *bench) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s Medians of %d rounds of twice %d gets and one scan of %d rows each; ratios are medians over the rounds. "+
		"%d goroutines or threads read at a time, and %d of many gets.\n\n",
		b.report.Heading(), b.Rounds, b.Gets, b.Rows, gets.callers, manyGets.callers)
	s.WriteString("| client | reads | rows/s | client CPU µs/row | server CPU µs/row | peak MiB | p99 ms |\n|---|---|---|---|---|---|---|\n")
	for _, k := range kinds {
		for _, c := range []struct{ id, name string }{{ours, "brine"}, {theirs, "Java Table"}} {
			l, late := b.counted(k, c.id), "–"
			if k.name == gets.name {
				late = fmt.Sprintf("%.2f", measure.Median(l, measure.Load.Late))
			}
			fmt.Fprintf(&s, "| %s | %ss by %d | %s | %s |\n", c.name, k.name, k.callers, measure.Cells(l), late)
		}
	}
	return s.String() + "\n" + measure.TargetTable(b.report.Targets)
}
