package sink

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"brine/event"
	"brine/rowkey"
)

// Shown is a value of a cell as people see it, as HBase's shell formats it. The zero Shown is a null. As JSON it is a text or null.
type Shown struct {
	text  string
	value bool // it is not null
}

// ShownText returns a value that is shown as text.
func ShownText(text string) Shown { return Shown{text, true} }

// Show returns a cell of a table that the entries write, as readers take it: NullsStore or not, event.NullCell is a null. column is
// family:qualifier; cells of a column that no entry sets are values.
func (o *Options) Show(table, column string, cell []byte) Shown {
	for i := range o.Rows {
		r := &o.Rows[i]
		at := slices.IndexFunc(r.Columns, func(c Column) bool { return c.Members == nil && c.Family+":"+c.Qualifier == column })
		if r.Table.Name == table && at >= 0 {
			if null, ok := o.nullOf(&r.Columns[at]); ok && bytes.Equal(cell, null) {
				return Shown{}
			}
			break
		}
	}
	return ShownText(rowkey.Binary(cell))
}

// nullOf returns the cell of a column that is null; ok is false if the column has none.
func (o *Options) nullOf(c *Column) (cell []byte, ok bool) {
	if c.Pack != nil {
		return nil, true
	}
	i := slices.IndexFunc(o.Schema.Fields, func(f event.Field) bool { return f.Name == c.Field })
	if i < 0 {
		return nil, false
	}
	return event.NullCell(o.Schema.Fields[i].Type)
}

// Cover replaces the value by a text. A null stays, and so does the absence of a value.
func (s *Shown) Cover(text string) {
	if s != nil && s.value {
		s.text = text
	}
}

// String returns the value, or null. A value that could be taken for a null, or for nothing, is in quotes.
func (s Shown) String() string {
	switch {
	case !s.value:
		return "null"
	case s.text == "" || s.text == "null":
		return strconv.Quote(s.text)
	}
	return s.text
}

// MarshalJSON implements json.Marshaler.
func (s Shown) MarshalJSON() ([]byte, error) {
	if !s.value {
		return []byte("null"), nil
	}
	out, _ := jsontext.AppendQuote(nil, s.text) // an error only says that something was replaced
	return out, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Shown) UnmarshalJSON(text []byte) (err error) {
	*s = Shown{}
	if string(text) != "null" {
		var of []byte
		of, err = jsontext.AppendUnquote(nil, text)
		*s = ShownText(string(of))
	}
	return err
}
