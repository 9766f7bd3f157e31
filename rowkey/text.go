package rowkey

import (
	"bytes"
	"fmt"
)

// text is a field's bytes, of any length. sep is the string that follows it, empty for the key's last part.
type text struct {
	field
	sep []byte
}

func (t *text) expr() string   { return t.name }
func (t *text) width() int     { return 0 }
func (t *text) reads() []field { return []field{t.field} }

func (t *text) doc() string {
	if len(t.sep) == 0 {
		return "the bytes of " + t.name + ", to the end: in byte order"
	}
	return "the bytes of " + t.name + " up to " + quote(t.sep) +
		": in byte order, a value that begins another by where " + quote(t.sep) + " sorts"
}

func (t *text) append(dst []byte, values []Value) ([]byte, error) {
	v, err := t.of(values)
	if err != nil {
		return dst, err
	}
	if holdsSeparator(v.Text, t.sep) {
		return dst, t.separatorError(t.sep)
	}
	return append(dst, v.Text...), nil
}

func (f *field) separatorError(sep []byte) error {
	return f.refuse("holds %s, the string that ends it in the key", quote(sep))
}

// holdsSeparator reports whether sep, written after b, would be found earlier than there: in b, or across its end.
func holdsSeparator(b, sep []byte) bool {
	switch len(sep) {
	case 0:
		return false
	case 1:
		return bytes.IndexByte(b, sep[0]) >= 0
	}
	if bytes.Contains(b, sep) {
		return true
	}
	for n := min(len(b), len(sep)-1); n > 0; n-- { // n bytes of b begin a match that sep itself completes
		if bytes.HasPrefix(sep, b[len(b)-n:]) && bytes.HasPrefix(sep, sep[n:]) {
			return true
		}
	}
	return false
}

func (t *text) measure(row []byte) (int, error)       { return measureUntil(row, t.sep) }
func (t *text) verify(b []byte, values []Value) error { return verifyAgain(t, b, values) }

func (t *text) decode(b []byte, values []Value) error {
	values[t.pos] = Value{Type: Text, Text: b}
	return nil
}

// fixed is a field's bytes in a fixed width, padded on the right (or left), so no value may end (or begin) with the pad.
type fixed struct {
	field
	n    int
	left bool
	pad  byte
}

func (f *fixed) width() int     { return f.n }
func (f *fixed) reads() []field { return []field{f.field} }

func (f *fixed) expr() string {
	switch {
	case f.left && f.pad == '0':
		return fmt.Sprintf("fixed(%s, %d, left)", f.name, f.n)
	case f.left:
		return fmt.Sprintf("fixed(%s, %d, left, %s)", f.name, f.n, quote([]byte{f.pad}))
	case f.pad == 0:
		return fmt.Sprintf("fixed(%s, %d)", f.name, f.n)
	}
	return fmt.Sprintf("fixed(%s, %d, %s)", f.name, f.n, quote([]byte{f.pad}))
}

func (f *fixed) doc() string {
	side, order := "right", "in byte order"
	if f.left {
		side, order = "left", "shorter values by where the pad sorts"
	} else if f.pad != 0 {
		order = "in byte order, a value that begins another by where the pad sorts"
	}
	return fmt.Sprintf("%s in %s, padded on the %s with %s: %s", f.name, count(f.n, "byte"), side, quote([]byte{f.pad}), order)
}

func (f *fixed) append(dst []byte, values []Value) ([]byte, error) {
	v, err := f.of(values)
	if err != nil {
		return dst, err
	}
	b := v.Text
	switch {
	case len(b) > f.n:
		return dst, f.refuse("has %s, but the key holds %d", count(len(b), "byte"), f.n)
	case len(b) > 0 && f.left && b[0] == f.pad:
		return dst, f.refuse("begins with %s, which the key uses as padding", quote(b[:1]))
	case len(b) > 0 && !f.left && b[len(b)-1] == f.pad:
		return dst, f.refuse("ends with %s, which the key uses as padding", quote(b[len(b)-1:]))
	}
	if f.left {
		return append(appendPad(dst, f.pad, f.n-len(b)), b...), nil
	}
	return appendPad(append(dst, b...), f.pad, f.n-len(b)), nil
}

func appendPad(dst []byte, pad byte, n int) []byte {
	for range n {
		dst = append(dst, pad)
	}
	return dst
}

func (f *fixed) measure(row []byte) (int, error)       { return measureFixed(row, f.n) }
func (f *fixed) verify(b []byte, values []Value) error { return verifyAgain(f, b, values) }

func (f *fixed) decode(b []byte, values []Value) error {
	for len(b) > 0 && f.left && b[0] == f.pad {
		b = b[1:]
	}
	for len(b) > 0 && !f.left && b[len(b)-1] == f.pad {
		b = b[:len(b)-1]
	}
	values[f.pos] = Value{Type: Text, Text: b}
	return nil
}
