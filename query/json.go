package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"brine/event"
	"brine/internal/when"
	"brine/mask"
	"brine/rowkey"
	"brine/search"
)

// WriteJSON writes an answer as it arrives, one JSON object per line, with only the named fields of each row, or all if none is named.
func WriteJSON(w io.Writer, rows iter.Seq2[Found, error], fields ...string) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for row, err := range rows {
		if err == nil {
			err = lines.Encode(row.Only(fields...))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Only returns the row with only the named fields, or all if none is named.
func (f Found) Only(fields ...string) Found {
	if len(fields) > 0 {
		f.Fields = slices.DeleteFunc(slices.Clone(f.Fields), func(x Field) bool { return !slices.Contains(fields, x.Name) })
	}
	return f
}

// Masked returns rows with mask.Text in place of what a table masks, for callers that show them.
func Masked(rows iter.Seq2[Found, error], rules *mask.Rules, table string) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		for row, err := range rows {
			if err == nil {
				row.Row = row.Masked(rules, table)
			}
			if !yield(row, MaskedError(err, rules)) {
				return
			}
		}
	}
}

// MaskedError returns an error of reading rows without the key of an unreadable one, if the table masks keys.
func MaskedError(err error, rules *mask.Rules) error {
	row, ok := errors.AsType[*UnreadableError](err)
	if !ok || !rules.MasksKey(row.Table) {
		return err
	}
	hidden := UnreadableError{Table: row.Table, Row: []byte(mask.Text), Err: row.Err}
	if errors.Is(row.Err, errNoKeys) { // what follows may quote the key's fields
		hidden.Err = errNoKeys
	}
	if _, ok := errors.AsType[*rowkey.DecodeError](row.Err); ok { // its text has the row
		hidden.Err = errOtherKey
	}
	return &hidden
}

var errOtherKey = errors.New("its key is none of the table's")

// Masked returns the row with mask.Text in place of what its table masks.
func (r Row) Masked(rules *mask.Rules, table string) Row {
	if rules.MasksKey(table) {
		r.Key = []byte(mask.Text)
	}
	own := false // r.Fields are not the caller's
	for i, x := range r.Fields {
		if x.Value.Null() || !rules.MasksPlace(table, x.Name) && !rules.MasksKeyField(table, x.Name) {
			continue
		}
		if !own {
			r.Fields, own = slices.Clone(r.Fields), true
		}
		r.Fields[i].Value = event.TextValue(mask.Text)
	}
	return r
}

// Masked returns the tally with mask.Text in place of the values of fields that an index masks.
func (t Tally) Masked(rules *mask.Rules, index string) Tally {
	t.Values = slices.Clone(t.Values)
	for i := range t.Values {
		v := &t.Values[i]
		if !rules.MasksPlace(index, v.Field) {
			continue
		}
		v.Counts = slices.Clone(v.Counts)
		for n := range v.Counts {
			v.Counts[n].Value = mask.Text
		}
	}
	return t
}

// rowJSON is a row as JSON.
type rowJSON struct {
	After   search.Cursor  `json:"after,omitempty"` // where the answer continues after the row
	Fields  map[string]any `json:"fields"`          // times as RFC 3339, nested values as they are, null if there is no value
	Row     string         `json:"row"`             // its key, as HBase's shell formats it
	State   State          `json:"state,omitempty"`
	Version int64          `json:"version"`
}

// MarshalJSON writes a row with the values of its fields.
func (f Found) MarshalJSON() ([]byte, error) {
	o := rowJSON{f.After, map[string]any{}, rowkey.Binary(f.Key), f.State, f.Version}
	for _, field := range f.Fields {
		if o.Fields[field.Name] == nil { // see Row.Value
			o.Fields[field.Name] = JSONValue(field.Value)
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // the caller of Marshal decides
	err := enc.Encode(o)
	return out.Bytes(), err
}

// JSONValue returns a value as encoding/json takes it; nil for a null.
func JSONValue(v event.Value) any {
	switch v.Type {
	case event.Text:
		return string(v.Text())
	case event.Nested:
		if !json.Valid(v.Text()) { // brine did not write it
			return string(v.Text())
		}
		return json.RawMessage(bytes.ToValidUTF8(v.Text(), []byte("\ufffd")))
	case event.Int:
		return v.Int()
	case event.Float:
		return v.Float()
	case event.Bool:
		return v.Bool()
	case event.TimeMS:
		return when.Text(v.Int())
	}
	if text, ok := v.Textual(); ok {
		return text
	}
	return nil
}

// AppendJSON appends a value as JSON, as encoding/json writes what JSONValue returns. A number that JSON does not have is a text.
func AppendJSON(dst []byte, v event.Value) []byte {
	switch v.Type {
	case event.Text:
		dst, _ = jsontext.AppendQuote(dst, v.Text()) // an error only says that what is not UTF-8 was replaced
		return dst
	case event.Int:
		return strconv.AppendInt(dst, v.Int(), 10)
	case event.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case event.TimeMS:
		return append(when.Append(append(dst, '"'), v.Int()), '"')
	}
	value := JSONValue(v)
	if number, ok := value.(float64); ok && (math.IsNaN(number) || math.IsInf(number, 0)) {
		value = fmt.Sprint(number)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // JSONValue returns nothing else that has no JSON
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// MarshalJSON writes the number of rows and, by field, the number with each value.
func (t Tally) MarshalJSON() ([]byte, error) {
	o := map[string]any{"rows": t.Rows}
	for _, v := range t.Values {
		list := make([]map[string]any, len(v.Counts))
		for i, n := range v.Counts {
			list[i] = map[string]any{"value": n.Value, "rows": n.N}
		}
		o[v.Field] = list
	}
	return json.Marshal(o)
}
