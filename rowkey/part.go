package rowkey

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// maxParts is the limit on the parts of a key, so that decoding keeps their ends on the stack.
const maxParts = 32

// part is one part of a key. Parts are immutable. Their errors while decoding are sentences about the part's bytes; the key adds the row
// and the position.
type part interface {
	expr() string   // normal form
	doc() string    // what it does and how it orders, in one sentence
	width() int     // bytes; 0 = variable
	reads() []field // the fields that it is computed from

	append(dst []byte, values []Value) ([]byte, error) // errors are *ValueError
	measure(row []byte) (int, error)                   // the length of the part that row begins with
	decode(b []byte, values []Value) error             // sets the values of the fields that it holds
	verify(b []byte, values []Value) error             // checks that b is what append appends for values
}

// ordered is a part that a scan can range over. ranges returns the key intervals, relative to the part's start, of the values from From
// (inclusive) to To (exclusive) in the field's own order. At most one of the two is null.
type ordered interface {
	part
	ranges(from, to Value) ([]Range, error)
}

// field is a field that the key reads.
type field struct {
	name  string
	typ   Type
	unit  time.Duration // see Field
	whole time.Duration // see Field
	pos   int           // in the values of Append and Decode

	// kept is set in the fields of a hash or salt: it is the part that holds the field less exactly. The hash is then that of the value as it
	// is read back, so that a row can be checked, and found by any value that it holds.
	kept rounder

	elsewhere bool // in the fields of a geohash: another part holds the field more exactly
}

// rounder is a part that holds its fields less exactly.
type rounder interface {
	part
	round(f *field, v Value) (Value, error) // v as it is read back
}

// of returns the field's value from values.
func (f *field) of(values []Value) (*Value, error) {
	v := &values[f.pos]
	if v.Type != f.typ {
		return nil, f.mismatch(v.Type)
	}
	return v, nil
}

func (f *field) mismatch(got Type) error {
	if got == 0 {
		return &ValueError{Field: f.name, Missing: true, Msg: "has no value"}
	}
	return f.refuse("is %s, but the key expects %s", got.one(), f.typ.one())
}

func (f *field) refuse(format string, args ...any) error {
	return &ValueError{Field: f.name, Msg: fmt.Sprintf(format, args...)}
}

// measureFixed measures a part of fixed width.
func measureFixed(row []byte, width int) (int, error) {
	if len(row) < width {
		return 0, fmt.Errorf("the row ends after %d of its %d bytes", len(row), width)
	}
	return width, nil
}

// measureUntil measures a variable part, which extends to the separator or, for the last part, to the end of the row.
func measureUntil(row, sep []byte) (int, error) {
	if len(sep) == 0 {
		return len(row), nil
	}
	n := bytes.Index(row, sep)
	if n < 0 {
		return 0, fmt.Errorf("its separator %s is missing", quote(sep))
	}
	return n, nil
}

var errDisagrees = errors.New("does not agree with the part that holds the field exactly")

// verifyAgain verifies a part by encoding it again.
func verifyAgain(p part, b []byte, values []Value) error {
	again, err := p.append(nil, values)
	if err == nil && !bytes.Equal(again, b) {
		err = errDisagrees
	}
	return err
}

// literal is a string of the expression: a separator or a constant.
type literal []byte

func (l literal) expr() string   { return quote(l) }
func (l literal) width() int     { return len(l) }
func (l literal) reads() []field { return nil }
func (l literal) doc() string    { return "the constant " + quote(l) }

func (l literal) append(dst []byte, _ []Value) ([]byte, error) {
	if len(l) == 1 { // the usual case
		return append(dst, l[0]), nil
	}
	return append(dst, l...), nil
}

func (l literal) decode([]byte, []Value) error { return nil }
func (l literal) verify([]byte, []Value) error { return nil }

func (l literal) measure(row []byte) (int, error) {
	if len(row) < len(l) || row[0] != l[0] || !bytes.HasPrefix(row, l) {
		return 0, errors.New("the bytes here differ")
	}
	return len(l), nil
}

func quote(b []byte) string { return strconv.Quote(string(b)) }
