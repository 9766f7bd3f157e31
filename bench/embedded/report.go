package embedded

import (
	"fmt"
	"strings"

	"brine/bench/measure"
)

// least is the target rate of one-cell rows.
const least = 100_000

// forms are the rows of the page's table.
var forms = []struct {
	id, name string
	columns  int
}{
	{cached, "acknowledged when the operating system has it", 1},
	{synced, "acknowledged when the disk has it (fsync)", 1},
	{wide, "acknowledged when the operating system has it", 4},
}

// judge compares the measurements with the targets.
func (b *bench) judge() {
	for _, f := range forms[:2] {
		l := measure.Counted(b.report.Loads, f.id, f.columns)
		b.report.Targets = append(b.report.Targets,
			measure.AtLeast("embedded."+f.id+".rows_per_s", measure.RepeatedLoads(l, measure.Load.RowsPerSecond), least))
	}
}

// text returns the section of the page.
func (b *bench) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s Medians of %d rounds of %d rows each.\n\n", b.report.Heading(), b.rounds, b.rows)
	s.WriteString("| durability | columns | rows/s | client CPU µs/row | server CPU µs/row |\n|---|---|---|---|---|\n")
	for _, f := range forms {
		l := measure.Counted(b.report.Loads, f.id, f.columns)
		fmt.Fprintf(&s, "| %s | %d | %.0f | %.2f | %.2f |\n", f.name, f.columns, measure.Median(l, measure.Load.RowsPerSecond),
			measure.Median(l, measure.Load.ClientMicros), measure.Median(l, measure.Load.ServerMicros))
	}
	return s.String() + "\n" + measure.TargetTable(b.report.Targets)
}
