// Package csv reads records that are one row of CSV each, as RFC 4180 has it: values between separators, in quotes where they hold one, a
// line's end or a quote, which is then doubled. The columns' names are the format's, since a record has no first row.
//
// It keeps one invariant: what it takes is what stands there. encoding/csv, which the tests compare it with, would turn a line's end
// within quotes into another, and cannot tell an empty text from none.
package csv

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"brine/event"
)

// Format is rows of these columns. A field's path is its column; a value is a text, which is read as the field's type.
type Format struct {
	Columns   []string
	Separator byte // 0: a comma
}

// NewReader implements event.Format.
func (f Format) NewReader(root *event.Node) event.Reader {
	r := &reader{root: root, separator: f.Separator, nodes: make([]*event.Node, len(f.Columns)), names: f.Columns}
	if r.separator == 0 {
		r.separator = ','
	}
	for i, name := range f.Columns {
		r.nodes[i] = root.Find([]byte(name))
	}
	return r
}

type reader struct {
	root      *event.Node
	separator byte
	names     []string
	nodes     []*event.Node // of the columns; nil: not declared
	plain     []byte        // scratch for a value without its doubled quotes
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Read implements event.Reader.
func (r *reader) Read(rec *event.Record, b *event.Builder) *event.Error {
	row := bytes.TrimPrefix(rec.Value, byteOrderMark)
	switch {
	case len(row) == 0:
		return undecodable("the value is empty")
	case !utf8.Valid(row):
		return undecodable("the row is not UTF-8")
	}
	skipped := len(rec.Value) - len(row)
	at, column := 0, 0
	for more := true; more; column++ {
		v, err := r.value(row, at, skipped)
		if err != nil {
			return err
		}
		if err := r.set(column, v, b); err != nil {
			return err
		}
		at, more = v.end+1, v.end < len(row) && row[v.end] == r.separator
	}
	if rest := bytes.Trim(row[min(at-1, len(row)):], "\r\n"); len(rest) > 0 {
		return undecodable("a second row begins at byte %d; a record is one row", len(rec.Value)-len(bytes.TrimLeft(row[at-1:], "\r\n")))
	}
	if column != len(r.nodes) {
		return undecodable("the row has %d values, and %d columns are declared", column, len(r.nodes))
	}
	if b.Looks() {
		for i, n := range r.nodes {
			if n == nil {
				b.Undeclared(r.root, []byte(r.names[i]))
			}
		}
	}
	return nil
}

// set hands on the value of a column. A column that is too many is found by its number once the row is read.
func (r *reader) set(column int, v value, b *event.Builder) *event.Error {
	switch {
	case column >= len(r.nodes) || r.nodes[column] == nil:
		return nil
	case len(v.text) == 0 && !v.quoted:
		return b.Null(r.nodes[column])
	case v.doubled:
		v.text = b.Keep(r.undouble(v.text))
	}
	return b.Parse(r.nodes[column], v.text)
}

// undouble takes one of each two quotes out of a text whose quotes are all doubled. It is overwritten by the next.
func (r *reader) undouble(text []byte) []byte {
	r.plain = r.plain[:0]
	for i := 0; i < len(text); i++ {
		r.plain = append(r.plain, text[i])
		if text[i] == '"' {
			i++
		}
	}
	return r.plain
}

// value is one value of a row.
type value struct {
	text    []byte
	quoted  bool
	doubled bool // quotes within are doubled
	end     int  // where the separator, or the line's end, or nothing follows
}

// value reads the value that begins at a byte of the row, before which so many of the record were skipped.
func (r *reader) value(row []byte, at, skipped int) (v value, err *event.Error) {
	if at < len(row) && row[at] == '"' {
		return r.inQuotes(row, at+1, skipped)
	}
	v.end = at
	for v.end < len(row) && row[v.end] != r.separator && row[v.end] != '\n' {
		if row[v.end] == '"' {
			return v, undecodable("a quote stands within a value without quotes, at byte %d", skipped+v.end)
		}
		v.end++
	}
	v.text = row[at:v.end]
	if lineEnds(row, v.end) && bytes.HasSuffix(v.text, []byte("\r")) {
		v.text, v.end = v.text[:len(v.text)-1], v.end-1
	}
	return v, nil
}

func lineEnds(row []byte, at int) bool { return at == len(row) || row[at] == '\n' }

// inQuotes reads a value whose quote stands before from.
func (r *reader) inQuotes(row []byte, from, skipped int) (v value, err *event.Error) {
	v.quoted = true
	for at := from; ; {
		n := bytes.IndexByte(row[at:], '"')
		if n < 0 {
			return v, undecodable("the quote at byte %d is never closed", skipped+from-1)
		}
		at += n + 1
		if at < len(row) && row[at] == '"' {
			v.doubled = true
			at++
			continue
		}
		v.text, v.end = row[from:at-1], at
		closed := lineEnds(row, at) || row[at] == r.separator || row[at] == '\r' && lineEnds(row, at+1)
		if !closed {
			return v, undecodable("something follows the closing quote at byte %d", skipped+at-1)
		}
		return v, nil
	}
}

func undecodable(format string, args ...any) *event.Error {
	return &event.Error{Reason: event.Undecodable, Detail: fmt.Sprintf(format, args...)}
}
