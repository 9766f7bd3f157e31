package plan_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"brine/plan"
)

// BenchmarkTally counts the events of a table whose rows are entities, three to a row, and measures their cells. One operation is an event.
func BenchmarkTally(b *testing.B) {
	const events = 90_000
	key := userKey(b, "md5(user, 4) + user")
	table := plan.Table{Name: "t", Key: key, Families: []plan.Family{{Name: "brief"}, {Name: "detail"}}}
	rows := make([][]byte, events/3)
	for i := range rows {
		rows[i] = rowOf(b, key, fmt.Sprintf("user%08d", i), 0)
	}
	content := make([]byte, 300)
	cells := make([]plan.Cell, 8)
	for i := range cells {
		cells[i] = plan.Cell{Family: table.Families[i%2].Name, Qualifier: fmt.Sprint("column", i), Value: content[:12]}
	}
	tally := plan.NewTally(table)
	b.ReportAllocs()
	for i := 0; b.Loop(); i = (i + 1) % events {
		if i == 0 {
			tally = plan.NewTally(table) // as large as a sample's, however long the benchmark runs
		}
		binary.BigEndian.PutUint64(content, uint64(i))
		tally.Add(int64(i), rows[i%len(rows)], content)
		tally.AddCells(int64(i), rows[i%len(rows)], int64(i), cells)
	}
}
