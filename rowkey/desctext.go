package rowkey

import (
	"bytes"
	"slices"
)

// descText is a field's bytes, each as 255 minus it, of any length. sep is the string that follows it, empty for the key's last part.
type descText struct {
	field
	sep []byte
}

func (t *descText) expr() string   { return "desc(" + t.name + ")" }
func (t *descText) width() int     { return 0 }
func (t *descText) reads() []field { return []field{t.field} }

func (t *descText) doc() string {
	if len(t.sep) == 0 {
		return "255 minus each byte of " + t.name + ", to the end: in descending byte order, a value before those that it begins"
	}
	return "255 minus each byte of " + t.name + " up to " + quote(t.sep) +
		": in descending byte order, a value that begins another by where " + quote(t.sep) + " sorts"
}

func (t *descText) append(dst []byte, values []Value) ([]byte, error) {
	v, err := t.of(values)
	if err != nil {
		return dst, err
	}
	row := appendComplement(dst, v.Text)
	if holdsSeparator(row[len(dst):], t.sep) {
		return dst, t.refuse("holds %s, which is %s in the key, the string that ends it", quote(appendComplement(nil, t.sep)), quote(t.sep))
	}
	return row, nil
}

// appendComplement is its own inverse.
func appendComplement(dst, b []byte) []byte {
	for _, c := range b {
		dst = append(dst, ^c)
	}
	return dst
}

func (t *descText) measure(row []byte) (int, error)       { return measureUntil(row, t.sep) }
func (t *descText) verify(b []byte, values []Value) error { return verifyAgain(t, b, values) }

func (t *descText) decode(b []byte, values []Value) error {
	values[t.pos] = Value{Type: Text, Text: appendComplement(make([]byte, 0, len(b)), b)}
	return nil
}

// ranges returns the key intervals of a range of values. A value that differs from a bound within the bound's length sorts as the
// complements do. Values that begin with a bound are above it, and their keys begin with its complement. Values that are a prefix of a
// bound are below it, wherever their keys are.
func (t *descText) ranges(from, to Value) ([]Range, error) {
	low, high := from.Text, to.Text
	if !to.Null() && bytes.Compare(low, high) >= 0 {
		return nil, nil
	}
	ranges := []Range{{}}
	if len(low) > 0 {
		ranges[0].Stop = next(appendComplement(nil, low))
	}
	if len(high) > 0 {
		ranges = cut(ranges, Range{Stop: next(appendComplement(nil, high))})
	}
	for n := range len(low) {
		if keys := t.keysOf(low[:n]); !keys.empty() {
			ranges = cut(ranges, keys)
		}
	}
	for n := range len(high) {
		if keys := t.keysOf(high[:n]); !keys.empty() && bytes.Compare(high[:n], low) >= 0 {
			ranges = join(ranges, keys)
		}
	}
	return ranges, nil
}

// keysOf returns the keys that hold x: those that begin with its complement and the separator, or the one that ends with its complement.
// The range is empty if the key cannot hold x.
func (t *descText) keysOf(x []byte) Range {
	start := appendComplement(nil, x)
	switch {
	case len(t.sep) == 0:
		return Range{start, append(slices.Clone(start), 0)}
	case holdsSeparator(start, t.sep):
		return Range{start, start}
	}
	start = append(start, t.sep...)
	return Range{start, next(start)}
}
