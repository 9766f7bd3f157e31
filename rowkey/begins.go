package rowkey

import (
	"bytes"
	"slices"
)

// makes reports whether row is one of the key's.
func (k *Key) makes(row []byte) bool {
	_, err := k.Decode(row)
	return err == nil
}

// begins reports whether a row of the key may begin with these bytes. Of a part that they hold only some of, it looks at the
// bytes alone and not at what they would mean.
func (k *Key) begins(row []byte) bool {
	values := make([]Value, len(k.fields))
	ends := make([]int, 0, len(k.slots))
	at := 0
	for i := range k.slots {
		s := &k.slots[i]
		n, err := s.measure(row[at:])
		if err != nil {
			return beginsPart(s.part, row[at:]) && k.agrees(row, ends, values)
		}
		if s.holds && s.decode(row[at:at+n], values) != nil {
			return false
		}
		at += n
		ends = append(ends, at)
	}
	return at == len(row) && k.agrees(row, ends, values)
}

// beginsPart reports whether the bytes, which are not all of a part, are its beginning.
func beginsPart(p part, b []byte) bool {
	if l, ok := p.(literal); ok {
		return bytes.HasPrefix(l, b)
	}
	missing := p.width() - len(b)
	if p.width() == 0 {
		return true // its separator may follow
	}
	for _, filling := range []byte{0, '0'} { // the least of numbers and buckets, and of digits
		if missing <= 0 {
			break
		}
		if _, err := p.measure(append(slices.Clone(b), bytes.Repeat([]byte{filling}, missing)...)); err == nil {
			return true
		}
	}
	return false
}

// agrees checks the parts, of those that end in row, which are computed from values that others of them hold.
func (k *Key) agrees(row []byte, ends []int, values []Value) bool {
	start := 0
	for i, end := range ends {
		s := &k.slots[i]
		known := !slices.ContainsFunc(s.reads(), func(f field) bool { return values[f.pos].Null() })
		if s.checks && known && s.verify(row[start:end], values) != nil {
			return false
		}
		start = end
	}
	return true
}
