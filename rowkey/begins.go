package rowkey

import (
	"bytes"
	"slices"
)

// makes reports whether the key could have made row.
func (k *Key) makes(row []byte) bool {
	_, err := k.Decode(row)
	return err == nil
}

// begins reports whether row looks like the beginning of one of the key's rows: every part that it holds whole can be read. Computed parts
// are not compared with what they are computed from, because split points are also made by hand.
func (k *Key) begins(row []byte) bool {
	values := make([]Value, len(k.fields))
	for i := range k.slots {
		s := &k.slots[i]
		n, err := s.measure(row)
		if err != nil {
			return beginsPart(s.part, row)
		}
		if s.holds && s.decode(row[:n], values) != nil {
			return false
		}
		row = row[n:]
	}
	return len(row) == 0
}

// beginsPart reports whether b, which is shorter than the part, is the beginning of one.
func beginsPart(p part, b []byte) bool {
	if l, ok := p.(literal); ok {
		return bytes.HasPrefix(l, b)
	}
	missing := p.width() - len(b)
	if p.width() == 0 {
		return true // its separator may follow
	}
	for _, filling := range []byte{0, '0'} { // the lowest byte of numbers and buckets, and of digits
		if missing <= 0 {
			break
		}
		if _, err := p.measure(append(slices.Clone(b), bytes.Repeat([]byte{filling}, missing)...)); err == nil {
			return true
		}
	}
	return false
}
