// Package csv reads records that are one row of CSV each, as in RFC 4180: values between separators, in quotes if they contain a separator,
// a line break or a quote, which is then doubled. The format supplies the columns' names, because a record has no header row.
//
// Its invariant: it takes what is there, unchanged. encoding/csv, which the tests compare it with, would change line breaks within quotes,
// and cannot distinguish an empty text from none.
package csv

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"brine/event"
)

// Format is rows with these columns. A field's path is its column; a value is a text, which is parsed as the field's type.
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
	plain     []byte        // scratch for a value with its quotes undoubled
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
		return undecodable("a second row begins at byte %d; a record must hold one row", len(rec.Value)-len(bytes.TrimLeft(row[at-1:], "\r\n")))
	}
	if column != len(r.nodes) {
		return undecodable("the row has %d values, but %d columns are declared", column, len(r.nodes))
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

// set passes on the value of a column. Surplus columns are detected by their number once the row is read.
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

// undouble removes one of each two quotes from a text whose quotes are all doubled. The next call overwrites the result.
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
	doubled bool // contains doubled quotes
	end     int  // where the separator, the line break or the end follows
}

// value reads the value at a byte of the row. skipped is the number of bytes of the record before the row.
func (r *reader) value(row []byte, at, skipped int) (v value, err *event.Error) {
	if at < len(row) && row[at] == '"' {
		return r.inQuotes(row, at+1, skipped)
	}
	v.end = at
	for v.end < len(row) && row[v.end] != r.separator && row[v.end] != '\n' {
		if row[v.end] == '"' {
			return v, undecodable("there is a quote inside an unquoted value, at byte %d", skipped+v.end)
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

// inQuotes reads a value whose opening quote is right before from.
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
			return v, undecodable("there is data after the closing quote at byte %d", skipped+at-1)
		}
		return v, nil
	}
}

func undecodable(format string, args ...any) *event.Error {
	return &event.Error{Reason: event.Undecodable, Detail: fmt.Sprintf(format, args...)}
}
