package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"brine/event"
	"brine/hbase"
	"brine/rowkey/eventkey"
)

// UnreadableError is the error for a row with bytes that brine never writes into its table, in the key or in a cell. Reading it again does
// not help.
type UnreadableError struct {
	Table string
	Row   []byte
	Err   error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("table %s: row %q: %v", e.Table, e.Row, e.Err)
}

// Unwrap returns what is wrong with the row.
func (e *UnreadableError) Unwrap() error { return e.Err }

// decoder turns the rows of a table into fields. It belongs to one goroutine.
type decoder struct {
	table     Table
	unpackers []*event.Unpacker // by column; nil for a column of one field
	keys      [][]string        // names of the fields of each key
	units     [][]time.Duration // what the integers among them count
	rounds    [][]bool          // whether each key holds these fields only rounded
	width     int               // the most fields of a row
}

func newDecoder(t Table) *decoder {
	d := &decoder{table: t, unpackers: make([]*event.Unpacker, len(t.Columns)), keys: make([][]string, len(t.Keys)),
		units: make([][]time.Duration, len(t.Keys)), rounds: make([][]bool, len(t.Keys))}
	for i := range t.Keys {
		d.keys[i] = t.Keys[i].Key.Fields()
		fields := t.Keys[i].Key.Bindable() // begins with those of Fields
		for n, name := range d.keys[i] {
			d.units[i] = append(d.units[i], fields[n].Unit)
			d.rounds[i] = append(d.rounds[i], !t.Keys[i].Key.Gives(name))
		}
		d.width = max(d.width, len(d.keys[i]))
	}
	for i := range t.Columns {
		d.width++
		if pack := t.Columns[i].Pack; pack != nil {
			d.unpackers[i] = event.NewUnpacker(pack)
			d.width += len(pack.Fields) - 1
		}
	}
	return d
}

// joined returns the row made of what was read under each key. It has no Fields if nothing was read.
func (d *decoder) joined(first []byte, results []hbase.Result) (Row, error) {
	all := joinResults(results)
	if all.key < 0 {
		return Row{Key: first}, nil
	}
	return d.row(all.Result, all.key)
}

// joinResults merges what was read of a row under each key; key is negative if nothing was read.
func joinResults(results []hbase.Result) raw {
	newest := -1
	var all hbase.Result
	for i := len(results) - 1; i >= 0; i-- {
		switch {
		case len(results[i].Cells) == 0:
		case newest < 0:
			newest, all = i, results[i]
		default:
			all.Cells = joinCells(all.Cells, results[i].Cells)
		}
	}
	return raw{all, newest}
}

// row turns cells into fields, by the key that found them. If bytes are not a valid value, the error names row and column.
func (d *decoder) row(r hbase.Result, at int) (Row, error) {
	row := Row{Key: r.Row, From: d.table.Keys[at].From}
	key := d.table.Keys[at].Key
	keyValues, err := key.Decode(r.Row)
	if err != nil {
		return row, &UnreadableError{d.table.Name, r.Row, err}
	}
	row.Fields = make([]Field, 0, d.width)
	for i, name := range d.keys[at] {
		row.Fields = append(row.Fields, Field{name, eventkey.FieldValue(keyValues[i], d.units[at][i])})
	}
	for i := range d.table.Columns {
		kept := len(row.Fields)
		fields, version, err := d.column(row.Fields, i, r.Cells)
		if err != nil {
			c := &d.table.Columns[i]
			return row, &UnreadableError{d.table.Name, r.Row, fmt.Errorf("column %s:%s: %w", c.Family, c.Qualifier, err)}
		}
		row.Version = max(row.Version, version)
		if d.table.State != "" && d.table.stands(d.table.Columns[i]) {
			row.StateVersion = max(row.StateVersion, version)
		}
		row.Fields = fields[:kept]
		for _, f := range fields[kept:] {
			row.Deleted = row.Deleted || f.Name == d.table.Deleted && f.Value.Bool()
			switch n := slices.Index(d.keys[at], f.Name); {
			case n < 0 || row.Fields[n].Value.Null():
				row.Fields = append(row.Fields, f)
			case d.rounds[at][n] && !f.Value.Null(): // the column has it exactly
				row.Fields[n].Value = f.Value
			}
		}
	}
	return row, nil
}

// column appends the fields of one column, null if its cell is absent, and returns the cell's timestamp.
func (d *decoder) column(to []Field, i int, cells []hbase.Cell) (fields []Field, version int64, err error) {
	c := &d.table.Columns[i]
	if c.Members {
		return d.members(to, c, cells)
	}
	var cell *hbase.Cell
	for n := range cells {
		if string(cells[n].Family) == c.Family && string(cells[n].Qualifier) == c.Qualifier {
			cell, version = &cells[n], cells[n].Timestamp
			break
		}
	}
	switch {
	case c.Qualifier == "":
		return to, version, nil
	case c.Pack == nil:
		f := Field{Name: c.Field}
		if cell != nil {
			f.Value, err = event.ParseValue(c.Type, cell.Value)
		}
		return append(to, f), version, err
	}
	values := make([]event.Value, len(c.Pack.Fields))
	if cell != nil {
		if values, err = d.unpackers[i].Unpack(cell.Value); err != nil {
			return nil, 0, err
		}
	}
	for n := range c.Pack.Fields {
		to = append(to, Field{c.Pack.Fields[n].Field, values[n]})
	}
	return to, version, nil
}

// members appends the field whose members have a cell each, as JSON with text values, or null if there is none.
func (d *decoder) members(to []Field, c *Column, cells []hbase.Cell) (fields []Field, version int64, err error) {
	var object []byte
	for i := range cells {
		cell := &cells[i]
		if string(cell.Family) != c.Family {
			continue
		}
		version = max(version, cell.Timestamp) // includes the empty cell
		name, ok := strings.CutPrefix(string(cell.Qualifier), c.Qualifier)
		if !ok || d.named(cell) {
			continue
		}
		object = append(object, ',')
		for n, text := range []string{name, string(cell.Value)} {
			if n > 0 {
				object = append(object, ':')
			}
			if object, err = jsontext.AppendQuote(object, text); err != nil {
				return nil, 0, fmt.Errorf("member %q: its name and value are not UTF-8", name)
			}
		}
	}
	f := Field{Name: c.Field}
	if object != nil {
		object[0] = '{'
		f.Value = event.NestedValue(string(append(object, '}')))
	}
	return append(to, f), version, nil
}

// named reports whether the cell belongs to a column that the table declares by name, or is the empty cell.
func (d *decoder) named(cell *hbase.Cell) bool {
	return len(cell.Qualifier) == 0 || slices.ContainsFunc(d.table.Columns, func(c Column) bool {
		return !c.Members && string(cell.Family) == c.Family && string(cell.Qualifier) == c.Qualifier
	})
}
