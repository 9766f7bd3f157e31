package reindex

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/sink"
)

// recoverer turns rows back into the events that would have made them, as far as documents are concerned: for partial changes an event for
// each version of a cell, for whole ones only the newest event, because a document keeps nothing of older ones. It belongs to one
// goroutine.
type recoverer struct {
	schema    event.Schema
	whole     bool
	deleted   int // the field that marks a delete; −1: none
	moves     bool
	key       *rowkey.Key
	keyAt     []int  // the positions of the key's fields in the schema
	keyGives  []bool // for each of them, whether the key holds its exact value
	encoder   *eventkey.Encoder
	columns   []column
	keyValues []rowkey.Value
	fields    []field
	row       []byte
}

// column is a column that the pipeline writes, and its contents. A column of members, and the empty cell, hold nothing for a document: they
// only have a version.
type column struct {
	family, qualifier []byte
	members           bool
	field             int // in the schema; −1: none
	unpacker          *event.Unpacker
	pack              []int // the position of each packed field in the schema
}

// field is one field of a row with its version.
type field struct {
	at      int // in the schema; −1: none
	version int64
	value   event.Value
}

// newRecoverer returns a recoverer, or an error that wraps ErrNotOf if rows do not hold everything that the documents are made of.
func newRecoverer(s *Source) (*recoverer, error) {
	d := &s.Documents.Documents[0]
	r := &recoverer{schema: s.Documents.Schema, whole: d.Changes == indexer.Whole, key: d.Key,
		deleted: position(s.Documents.Schema, d.Deleted),
		moves:   len(s.Documents.Schema.Images.Before) > 0}
	for _, name := range d.Key.Fields() {
		r.keyAt = append(r.keyAt, position(r.schema, name))
		r.keyGives = append(r.keyGives, d.Key.Gives(name))
	}
	var err error
	if r.encoder, err = eventkey.New(d.Key, r.schema); err != nil {
		return nil, err
	}
	r.keyValues = make([]rowkey.Value, len(r.keyAt))
	for i := range s.Rows.Rows {
		if entry := &s.Rows.Rows[i]; entry.Table.Name == s.Table {
			if err := r.add(entry); err != nil {
				return nil, notOf(s, err.Error())
			}
		}
	}
	return r, r.check(s, d)
}

func notOf(s *Source, why string) error {
	return fmt.Errorf("pipeline %s, table %s: %w: %s; build the index from the topic", s.Pipeline, s.Table, ErrNotOf, why)
}

func position(s event.Schema, name string) int {
	return slices.IndexFunc(s.Fields, func(f event.Field) bool { return f.Name == name && name != "" })
}

// add adds the columns of one entry of rows.
func (r *recoverer) add(entry *sink.Rows) error {
	switch {
	case entry.When != "":
		return errors.New("a condition excludes rows whose documents may exist")
	case entry.As != nil || entry.Each != nil:
		return errors.New("an event has several rows in it")
	case len(entry.Table.Keys) > 1:
		return errors.New("it has several keys, but documents take their ids from the first")
	case entry.Deletes.Hard:
		return errors.New("hard-deleted rows leave nothing behind, so a late change would bring their documents back")
	case r.moves && (entry.Table.Row == sink.RowEvent || !r.whole):
		return errors.New("changes move documents, but the rows that they leave are not marked")
	}
	empty := entry.Empty
	for _, c := range entry.Columns {
		made := column{family: []byte(c.Family), qualifier: []byte(c.Qualifier), members: c.Members != nil, field: -1}
		switch {
		case c.Pack != nil:
			made.unpacker = event.NewUnpacker(c.Pack)
			for _, f := range c.Pack.Fields {
				made.pack = append(made.pack, position(r.schema, f.Field))
			}
		case c.Members == nil:
			made.field = position(r.schema, c.Field)
		}
		r.columns = append(r.columns, made)
	}
	if empty == "" {
		empty = entry.Columns[0].Family
	}
	r.columns = append(r.columns, column{family: []byte(empty), field: -1})
	return nil
}

// check returns an error unless every field of the document is in the row's key or its columns.
func (r *recoverer) check(s *Source, d *indexer.Document) error {
	if len(r.columns) == 0 {
		return notOf(s, "the pipeline does not write to it")
	}
	if d.When != "" {
		return notOf(s, "a condition on the change decides which documents exist, but a row does not hold the change")
	}
	need := map[string]string{} // names in the index, by names in the schema
	for _, c := range d.Set {
		need[c.Field] = c.Name
	}
	if d.Deleted != "" {
		need[d.Deleted] = indexer.FieldDeleted
	}
	var lacking []string
	for name, as := range need {
		if !r.key.Gives(name) && !r.holds(position(r.schema, name)) {
			lacking = append(lacking, as)
		}
	}
	if len(lacking) > 0 {
		slices.Sort(lacking)
		return notOf(s, "no column holds "+strings.Join(lacking, ", "))
	}
	return nil
}

func (r *recoverer) holds(at int) bool {
	return slices.ContainsFunc(r.columns, func(c column) bool { return c.field == at || slices.Contains(c.pack, at) })
}

// families returns the families to scan.
func (r *recoverer) families() (out []hbase.Column) {
	for _, c := range r.columns {
		if !slices.ContainsFunc(out, func(has hbase.Column) bool { return bytes.Equal(has.Family, c.family) }) {
			out = append(out, hbase.Column{Family: c.family})
		}
	}
	return out
}

// events appends the events of a row, oldest first. It appends nothing for a row that the pipeline has not written. The events' values
// alias the row. An error is the reason that the row is not one of the pipeline's.
func (r *recoverer) events(dst []event.Event, row hbase.Result, record *event.Record) ([]event.Event, error) {
	if err := r.read(row); err != nil || len(r.fields) == 0 {
		return dst, err
	}
	slices.SortStableFunc(r.fields, func(a, b field) int { return compare(a.version, b.version) })
	if r.whole {
		newest := r.fields[len(r.fields)-1].version
		r.fields = slices.DeleteFunc(r.fields, func(f field) bool { return f.version < newest })
	}
	base := make([]event.Value, len(r.schema.Fields))
	if !r.whole { // a row says nothing about a field without a cell
		for i := range base {
			base[i] = event.Unsent()
		}
	}
	if err := r.identity(base, row.Row); err != nil {
		return dst, err
	}
	for i := 0; i < len(r.fields); {
		ev := event.Event{Record: record, Version: r.fields[i].version, Values: slices.Clone(base)}
		first := i
		for ; i < len(r.fields) && r.fields[i].version == ev.Version; i++ {
			if f := &r.fields[i]; f.at >= 0 && !slices.Contains(r.keyAt, f.at) {
				ev.Values[f.at] = f.value
			}
		}
		if r.left(r.fields[first:i]) {
			ev.Values, ev.Former = nil, base
		}
		dst = append(dst, ev)
	}
	return dst, nil
}

// left reports whether the newest change has moved the row away: it has then only marked the row.
func (r *recoverer) left(fields []field) bool {
	return r.moves && len(fields) == 1 && fields[0].at == r.deleted && fields[0].value.Bool()
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// read sets r.fields from the cells.
func (r *recoverer) read(row hbase.Result) error {
	r.fields = r.fields[:0]
	for i := range row.Cells {
		cell := &row.Cells[i]
		c := r.column(cell)
		if c == nil {
			continue
		}
		if cell.Timestamp < 0 || cell.Timestamp == math.MaxInt64 {
			return fmt.Errorf("column %s:%s: its timestamp %d is not a version", c.family, c.qualifier, cell.Timestamp)
		}
		if err := r.cell(c, cell); err != nil {
			return fmt.Errorf("column %s:%s: %w", c.family, c.qualifier, err)
		}
	}
	return nil
}

func (r *recoverer) cell(c *column, cell *hbase.Cell) error {
	if c.unpacker != nil {
		values, err := c.unpacker.Unpack(cell.Value)
		for i, v := range values {
			r.fields = append(r.fields, field{c.pack[i], cell.Timestamp, v})
		}
		return err
	}
	f := field{at: c.field, version: cell.Timestamp}
	var err error
	if c.field >= 0 {
		f.value, err = event.ParseValue(r.schema.Fields[c.field].Type, cell.Value)
	}
	r.fields = append(r.fields, f)
	return err
}

// column returns the column of a cell: the one with its name or, if there is none, the one whose name is a prefix of it.
func (r *recoverer) column(cell *hbase.Cell) (found *column) {
	for i := range r.columns {
		c := &r.columns[i]
		switch {
		case !bytes.Equal(c.family, cell.Family):
		case !c.members && bytes.Equal(c.qualifier, cell.Qualifier):
			return c
		case c.members && len(cell.Qualifier) > 0 && bytes.HasPrefix(cell.Qualifier, c.qualifier):
			found = c
		}
	}
	return found
}

// identity sets the values that the row's key is made of: the key's own, or those of columns if the key does not hold the exact values.
// They must yield the same key.
func (r *recoverer) identity(values []event.Value, row []byte) error {
	if err := r.key.DecodeInto(r.keyValues, row); err != nil {
		return err
	}
	for i, at := range r.keyAt {
		values[at] = eventkey.FieldValue(r.keyValues[i], eventkey.Unit(r.schema.Fields[at].Type))
		if n := slices.IndexFunc(r.fields, func(f field) bool { return f.at == at }); n >= 0 && !r.keyGives[i] {
			values[at] = r.fields[n].value
		}
	}
	made, err := r.encoder.Append(r.row[:0], &event.Event{Values: values})
	r.row = made
	if err == nil && !bytes.Equal(made, row) {
		err = fmt.Errorf("its columns give the key %s", rowkey.Binary(made))
	}
	return err
}
