package main

import (
	"cmp"
	"fmt"

	"brine/hbase"
	"brine/rowkey"
	"brine/sink"
)

// replayDiff is what some records of a replay's range would change of the rows that are there.
type replayDiff struct {
	Pipeline string          `json:"pipeline"` // pipeline.rows
	Records  int             `json:"records"`
	Rejected int             `json:"dead_letters"`
	Rows     int             `json:"rows"`
	New      int             `json:"new_rows"`
	Changed  int             `json:"changed_rows"`
	Same     int             `json:"same_cells"`
	Added    int             `json:"added_cells"`    // to rows that are there
	Replaced int             `json:"replaced_cells"` // older ones
	Tied     int             `json:"tied_cells"`     // of the same version with another value: the one written last stays
	Kept     int             `json:"kept_cells"`     // newer ones, which stay
	Examples []diffedCell    `json:"examples"`
	missing  map[string]bool // tables that do not exist
}

// diffedCell is a cell that would change.
type diffedCell struct {
	Table   string `json:"table"`
	Row     string `json:"row"`
	Column  string `json:"column"`
	Now     string `json:"now,omitempty"`
	At      int64  `json:"now_version,omitempty"`
	Then    string `json:"then"`
	Version int64  `json:"version"`
}

func exampleOf(table string, want *wantedRow, cell sink.Cell, found []hbase.Cell, i int) diffedCell {
	x := diffedCell{Table: table, Row: rowkey.Binary(want.key), Column: cell.Family + ":" + cell.Qualifier, Then: rowkey.Binary(cell.Value), Version: want.version}
	if i >= 0 {
		x.Now, x.At = rowkey.Binary(found[i].Value), found[i].Timestamp
	}
	return x
}

func (s *replayScreen) diff(d *replayDiff) {
	if s.json {
		s.object(d)
		return
	}
	n := func(n int) string { return thousands(int64(n)) }
	fmt.Fprintf(s.out, "%s: %s of the range would become %s", d.Pipeline, count(d.Records, "record"), count(d.Rows, "row"))
	if d.Rejected > 0 {
		fmt.Fprintf(s.out, ", and %s of them dead letters", n(d.Rejected))
	}
	fmt.Fprintf(s.out, ":\n  %12s rows are not there\n  %12s rows are there and would change\n  %12s rows would stay as they are\n", n(d.New), n(d.Changed), n(d.Rows-d.New-d.Changed))
	fmt.Fprintf(s.out, "of the cells of rows that are there:\n  %12s are the same\n  %12s stay, since they are newer\n  %12s would be added\n  %12s would be replaced, since they are older\n  %12s would be overwritten by another value of the same version\n",
		n(d.Same), n(d.Kept), n(d.Added), n(d.Replaced), n(d.Tied))
	for _, table := range sortedKeys(d.missing) {
		fmt.Fprintf(s.out, "table %s does not exist\n", table)
	}
	for _, x := range d.Examples {
		printLine(s.out, "  %s %s %s: %s at %d → %s at %d", x.Table, x.Row, x.Column, cmp.Or(x.Now, "-"), x.At, x.Then, x.Version)
	}
}
