package sqlconsole

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/event"
	"brine/internal/when"
	"brine/mask"
	"brine/query"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

// Catalog is what statements may name.
type Catalog struct {
	Tables []Table
	Views  []query.View // errors name the views that answer what a table cannot
	Masks  *mask.Rules  // what nobody is shown; nil: nothing
}

// Table is a table with the meaning of its cells' times.
type Table struct {
	query.Table
	Numbers bool // they are versions, but not times

	Kept   map[string]Kept // what is kept of earlier cells, by family
	Erases string          // what may hide earlier cells before their time; empty: nothing
}

// KeyName is the name of the row key, which is written as in HBase's shell.
const KeyName = "_key"

// table finds a table by its name, with or without the namespace.
func (c *Catalog) table(n Name) (*Table, error) {
	var names, short []string
	var found *Table
	for i := range c.Tables {
		t := &c.Tables[i]
		if t.Name == n.Text {
			return t, nil
		}
		names = append(names, t.Name)
		if _, after, ok := strings.Cut(t.Name, ":"); ok && after == n.Text {
			short, found = append(short, t.Name), t
		}
	}
	slices.Sort(names)
	switch {
	case len(short) == 1:
		return found, nil
	case len(short) > 1:
		return nil, wrong(n.Pos, "write one of "+strings.Join(short, ", "), "%s is short for several tables", n.Text)
	case slices.ContainsFunc(c.Views, func(v query.View) bool { return v.Name == n.Text }):
		return nil, wrong(n.Pos, "brine query "+n.Text+" asks it; tables are "+strings.Join(names, ", "), "%s is a view", n.Text)
	}
	return nil, wrong(n.Pos, "there are "+list(names), "there is no table %s", cut(n.Text))
}

func list(names []string) string {
	const most = 30
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// column is what a Ref names in a table.
type column struct {
	ref    Ref
	kind   columnKind
	typ    event.Type       // of its values
	of     *query.Column    // the column that holds it; nil for a field that only the key holds, and for an undeclared column
	cell   query.ColumnName // of a cell
	inKey  bool
	twice  bool // several columns hold the field
	masked bool
}

type columnKind uint8

const (
	ofKey   columnKind = iota // _key
	ofField                   // a field of the key or of a column
	ofCell                    // family:qualifier
	ofTime                    // the time of the cell of a field or column
)

// names returns everything that a statement may name in the table.
func (t *Table) names() (out []string) {
	out = append(out, t.Keys.Fields()...)
	for i := range t.Columns {
		for _, f := range fieldsOf(&t.Columns[i]) {
			if !slices.Contains(out, f.Field) {
				out = append(out, f.Field)
			}
		}
	}
	return out
}

// gives reports whether all keys of the table hold a field exactly.
func (t *Table) gives(field string) bool {
	return !slices.ContainsFunc(t.Keys, func(k rowkey.KeyFrom) bool { return !k.Key.Gives(field) })
}

// fieldsOf returns the fields that a column holds.
func fieldsOf(c *query.Column) []event.PackedField {
	switch {
	case c.Pack != nil:
		return c.Pack.Fields
	case c.Members:
		return []event.PackedField{{Field: c.Field, Type: event.Nested}}
	case c.Qualifier == "":
		return nil
	}
	return []event.PackedField{{Field: c.Field, Type: c.Type}}
}

var keyTypes = map[rowkey.Type]event.Type{rowkey.Text: event.Text, rowkey.Int: event.Int, rowkey.Float: event.Float,
	rowkey.Bool: event.Bool,
	rowkey.Time: event.TimeMS}

// resolve finds what a Ref names.
func (c *Catalog) resolve(t *Table, r Ref) (*column, error) {
	out := &column{ref: r}
	switch {
	case r.Text == KeyName && !r.Quoted:
		out.typ, out.masked = event.Text, c.Masks.MasksKey(t.Name)
	case strings.Contains(r.Text, ":"):
		out.kind = ofCell
		family, qualifier, _ := strings.Cut(r.Text, ":")
		out.cell, out.typ = query.ColumnName{Family: family, Qualifier: qualifier}, event.Text
		if !slices.ContainsFunc(t.Columns, func(c query.Column) bool { return c.Family == family }) {
			return nil, wrong(r.Pos, "there are "+strings.Join(t.families(), ", "), "no pipeline writes family %s of table %s",
				cut(family), t.Name)
		}
		if out.of = t.declared(out.cell); out.of != nil && out.of.Pack == nil && !out.of.Members && out.of.Type != 0 {
			out.typ = out.of.Type.Stored()
		}
		out.masked = c.masksCell(t, out.cell)
	default:
		if err := t.field(out); err != nil {
			return nil, err
		}
		out.masked = c.Masks.MasksPlace(t.Name, r.Text) || c.Masks.MasksKeyField(t.Name, r.Text)
	}
	if r.Time {
		return out, t.timeOf(out)
	}
	return out, nil
}

func (t *Table) families() (out []string) {
	for _, c := range t.Columns {
		if !slices.Contains(out, c.Family) {
			out = append(out, c.Family)
		}
	}
	return out
}

// field finds a field of the key or of a column.
func (t *Table) field(out *column) error {
	out.kind = ofField
	name := out.ref.Text
	for i := range t.Columns {
		for _, f := range fieldsOf(&t.Columns[i]) {
			switch {
			case f.Field != name:
			case out.of != nil:
				out.twice = true
			default:
				out.of, out.typ = &t.Columns[i], f.Type.Stored()
				out.cell = query.ColumnName{Family: out.of.Family, Qualifier: out.of.Qualifier}
			}
		}
	}
	for _, f := range t.KeyFields() {
		if f.Name == name {
			if out.inKey = true; eventkey.Type(out.typ) != f.Type { // a column may know the unit of an integer better
				if out.typ = keyTypes[f.Type]; out.typ == event.Int {
					out.typ = eventkey.Counted(f.Unit)
				}
			}
		}
	}
	if out.typ == 0 {
		return wrong(out.ref.Pos, "it has "+list(t.names())+", "+KeyName+`, and columns as "family:qualifier"`,
			"table %s has no column %s", t.Name, cut(name))
	}
	return nil
}

// timeOf turns the column into the time of its cell.
func (t *Table) timeOf(out *column) error {
	if out.of == nil && out.kind != ofCell {
		return wrong(out.ref.Pos, "name a column, such as _time(\"family:qualifier\")",
			"%s is part of the key, which has no timestamp", out.ref.Text)
	}
	out.kind, out.typ, out.inKey = ofTime, event.TimeMS, false
	if t.Numbers {
		out.typ = event.Int
	}
	return nil
}

// declared returns the column to which a cell belongs, or nil if none is declared.
func (t *Table) declared(cell query.ColumnName) *query.Column {
	var member *query.Column
	for i := range t.Columns {
		c := &t.Columns[i]
		switch {
		case c.Family != cell.Family:
		case !c.Members && c.Qualifier == cell.Qualifier:
			return c
		case c.Members && cell.Qualifier != "" && strings.HasPrefix(cell.Qualifier, c.Qualifier):
			member = c
		}
	}
	return member
}

func (c *Catalog) masksCell(t *Table, cell query.ColumnName) bool {
	of := t.declared(cell)
	return c.Masks.MasksPlace(t.Name, cell.String()) || of != nil && of.Field != "" && c.Masks.MasksPlace(t.Name, of.Field)
}

// value parses a literal as a value of the column.
func (c *column) value(l Literal, now time.Time) (event.Value, error) {
	bad := func(fix string) (event.Value, error) {
		return event.Value{}, wrong(l.Pos, fix, "%s is %s, but %s is not such a value", c.ref, article(c.typ), cut(l.text))
	}
	switch c.typ {
	case event.Text, event.Nested:
		if l.kind != text {
			return bad("write it in 'single quotes'")
		}
		if c.kind == ofKey {
			row, err := rowkey.ParseBinary(l.text)
			if err != nil {
				return event.Value{}, wrong(l.Pos, "copy it unchanged from an answer", "%s: %v", KeyName, err)
			}
			return event.TextValue(string(row)), nil
		}
		return event.TextValue(l.text), nil
	case event.Bool:
		if l.kind != word {
			return bad("write TRUE or FALSE")
		}
		return event.BoolValue(strings.EqualFold(l.text, "TRUE")), nil
	case event.Float:
		f, err := strconv.ParseFloat(l.text, 64)
		if l.kind != number || err != nil || math.IsInf(f, 0) {
			return bad("write a number")
		}
		return event.FloatValue(f), nil
	case event.Decimal:
		v, ok := event.DecimalValue(l.text)
		if l.kind != number || !ok {
			return bad("write a number of at most 38 digits")
		}
		return v, nil
	case event.Date, event.TimeUS, event.TimeNS:
		n, err := strconv.ParseInt(l.text, 10, 64)
		if err != nil {
			n, err = when.Count(l.text, now, eventkey.Unit(c.typ))
		}
		if l.kind == word || err != nil {
			return bad("write '" + strings.ReplaceAll(when.FormsOf(eventkey.Unit(c.typ)), ", ", "', '") + "'")
		}
		return event.InstantValue(c.typ, n), nil
	case event.Bytes:
		v, err := (event.Field{Type: c.typ}).ValueOf(l.text)
		if l.kind == word || err != nil {
			return bad("write it in 'single quotes', as answers show it")
		}
		return v, nil
	case event.TimeMS:
		at, err := when.Time(l.text, now)
		if l.kind == word || err != nil {
			return bad("write '" + strings.ReplaceAll(when.Forms, ", ", "', '") + "'")
		}
		return event.TimeValue(at.UnixMilli()), nil
	}
	n, err := strconv.ParseInt(l.text, 10, 64)
	if l.kind != number || err != nil {
		return bad("write a whole number of 64 bits")
	}
	return event.IntValue(n), nil
}

func article(t event.Type) string {
	switch t {
	case event.Int:
		return "a whole number"
	case event.Float:
		return "a number"
	case event.Bool:
		return "true or false"
	case event.TimeMS, event.TimeUS, event.TimeNS:
		return "a time"
	case event.Date, event.Decimal:
		return "a " + t.String()
	case event.Bytes:
		return "bytes"
	}
	return "a text"
}
