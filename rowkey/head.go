package rowkey

import "slices"

// Head returns the end of the first field that a row holds whole, with the constants behind it: rows that begin so have its value in
// common. It is 0 when no part of the key holds a field, or row is none of the key's.
func (k *Key) Head(row []byte) int {
	at, whole := 0, false
	for i := range k.slots {
		s := &k.slots[i]
		if _, constant := s.part.(literal); whole && !constant {
			return at
		}
		n, err := s.measure(row[at:])
		if err != nil {
			return 0
		}
		at += n
		whole = whole || s.holds
	}
	if !whole {
		return 0
	}
	return at
}

// HeadIsTime reports whether the first field that rows hold whole is a time.
func (k *Key) HeadIsTime() bool {
	i := slices.IndexFunc(k.slots, func(s slot) bool { return s.holds })
	return i >= 0 && k.slots[i].isTime()
}
