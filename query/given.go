package query

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/rowkey"
)

// The parameters for pages when views are asked over HTTP: no argument of a view has these names.
const (
	PageSize  = "page_size"
	PageToken = "page_token"
)

// Given is an argument of a view as a program has it: nothing in a value is syntax, neither dots nor commas nor equal signs.
type Given struct {
	Field    string
	Values   []string // one, or several if the argument takes a list
	From, To string   // instead of Values: the ends of a range, from inclusive and to exclusive, either possibly empty
}

// canonical returns a text that differs between arguments that differ. Cursors contain its checksum, so it must not change.
func (g *Given) canonical() string {
	b := append(strconv.AppendQuote(nil, g.Field), ' ')
	for i, value := range g.Values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, value)
	}
	b = strconv.AppendQuote(append(b, ' '), g.From)
	return string(strconv.AppendQuote(append(b, ' '), g.To))
}

// given validates one argument.
func (v *View) given(a Arg, g *Given) (condition, error) {
	c := condition{arg: a, values: g.Values, from: g.From, to: g.To, ranged: g.From+g.To != ""}
	if len(g.From)+len(g.To)+len(strings.Join(g.Values, "")) > maxCondition {
		return c, fmt.Errorf("has more than %d bytes; shorten it", maxCondition)
	}
	switch {
	case c.ranged && len(g.Values) > 0:
		return c, fmt.Errorf("has both a value and a range; give one of them")
	case c.ranged && !a.Range:
		return c, fmt.Errorf("takes a value here, not a range")
	case c.ranged && strings.HasPrefix(g.To, "="):
		return c, fmt.Errorf("has an end that begins with =, which is not possible")
	case c.ranged:
		return c, nil
	case len(g.Values) == 0 || slices.ContainsFunc(g.Values, func(s string) bool { return strings.TrimSpace(s) == "" }):
		return c, fmt.Errorf("has no value; give one, or remove it")
	case len(g.Values) > 1 && (slices.Contains(v.Where, a) || v.wordsOf(a)):
		return c, fmt.Errorf("takes one value")
	}
	if c.words = v.wordsOf(a); c.words {
		c.text = g.Values[0]
	}
	return c, nil
}

// Parameter is an argument of a view with the properties of its values.
type Parameter struct {
	Arg
	Required bool
	Type     rowkey.Type
	Unit     time.Duration // see rowkey.Field
	Words    bool          // found by its words
	List     bool          // several values are allowed
}

// Parameters returns the arguments of the view, starting with those that every question gives.
func (v *View) Parameters() []Parameter {
	var out []Parameter
	fields := v.Table.keyFields()
	for i, a := range v.args() {
		p := Parameter{Arg: a, Required: i < len(v.Where), Words: v.wordsOf(a)}
		var indexed bool
		if x := v.Table.Index; x != nil && v.Get == nil {
			if f, err := x.of(a.Field); err == nil {
				p.Type, p.Unit, indexed = f.Type, f.Unit, true
			}
		}
		if f, ok := fields[a.Field]; ok {
			p.Type, p.Unit = f.Type, f.Unit
		}
		p.List = indexed && !p.Required && !p.Words
		out = append(out, p)
	}
	return out
}

// KeyFields returns the fields that identify a row of the table.
func (t Table) KeyFields() []rowkey.Field {
	var out []rowkey.Field
	fields := t.keyFields()
	for _, name := range t.Keys.Fields() {
		out = append(out, fields[name])
	}
	return out
}

// RowsOf returns the row key under each of the table's keys for these fields, which must be exactly those that the keys hold. Its errors
// are *Fault.
func (t Table) RowsOf(fields map[string]string) ([][]byte, error) {
	values := map[string]rowkey.Value{}
	for _, f := range t.KeyFields() {
		text, ok := fields[f.Name]
		if !ok {
			return nil, &Fault{Arg: f.Name, Msg: "is missing", Fix: "give all fields of the key: " + strings.Join(t.Keys.Fields(), ", ")}
		}
		v, err := ParseValue(f, text)
		if err != nil {
			return nil, &Fault{Arg: f.Name, Msg: err.Error()}
		}
		values[f.Name] = v
	}
	for name := range fields {
		if _, ok := values[name]; !ok {
			return nil, named(name, "no field %q in the key; it has %s", name, strings.Join(t.Keys.Fields(), ", "))
		}
	}
	keys, err := appendKeys(nil, t.Keys, func(name string) rowkey.Value { return values[name] })
	return keys, refused(err)
}

// ByRow reads rows by the keys that answers show. A table may use another key for a row in other versions, so ByRow reads a row that it
// found under one key under all of them. A row that does not exist has no Fields.
func ByRow(ctx context.Context, c Client, t Table, rows [][]byte) ([]Row, error) {
	several := len(t.Keys)
	keys := make([][]byte, 0, several*len(rows))
	for _, row := range rows {
		for range several {
			keys = append(keys, row)
		}
	}
	found, err := ByKey(ctx, c, t, keys)
	if err != nil || several == 1 {
		return found, err
	}
	var again [][]byte
	var at []int
	for i := range found {
		if len(found[i].Fields) == 0 {
			continue
		}
		if again, err = t.keysOfRow(again, &found[i]); err != nil {
			return nil, err
		}
		at = append(at, i)
	}
	whole, err := ByKey(ctx, c, t, again)
	if err != nil {
		return nil, err
	}
	for i, row := range whole {
		found[at[i]] = row
	}
	return found, nil
}

// PageSize returns the number of rows per page by default.
func (v *View) PageSize() int { return v.page() }

// Shown returns the table whose rows the view shows.
func (v *View) Shown() *Table { return v.shown() }
