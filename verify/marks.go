package verify

import (
	"bytes"

	"brine/event"
	"brine/sink"
)

// marks returns the columns that mark rows of a table as deleted, of those entries that delete columns which are null.
func (o *Options) marks(t *Table) (columns [][]byte) {
	for i := range o.Sources {
		s := &o.Sources[i]
		readings := append([]Former{{Rows: s.Rows}}, s.Former...)
		for _, r := range readings {
			if r.Rows == nil || t.Documents {
				continue
			}
			for _, rows := range r.Rows.Rows {
				if rows.Table.Name == t.Name && rows.Nulls == sink.NullsDelete && rows.Deletes.Field != "" {
					columns = append(columns, marksOf(&rows)...)
				}
			}
		}
	}
	return columns
}

func marksOf(rows *sink.Rows) (columns [][]byte) {
	for _, c := range rows.Columns {
		if c.Field == rows.Deletes.Field && c.Members == nil {
			columns = append(columns, appendColumn(nil, []byte(c.Family), []byte(c.Qualifier)))
		}
	}
	return columns
}

// marksRow is the hash of a mark in a row that is deleted.
var marksRow = hash(event.AppendValue(nil, event.BoolValue(true)))

// mark notes that a cell marks the row as deleted.
func (j *judge) mark(c *Cell, seen *outcome) {
	for _, name := range j.marks {
		if c.Value == marksRow && bytes.Equal(c.Column, name) {
			seen.marked = max(seen.marked, c.Version)
		}
	}
}

// goneWithRow reports whether a column may be missing because a change of the column's version deleted the row. Today such a change deletes
// only what is older, but earlier brines had it delete the columns of its own version too, and in a row that is deleted that makes no
// difference.
func goneWithRow(e *column, seen *outcome) bool {
	return seen.marked == e.best.version && e.deleted == e.best.version-1
}
