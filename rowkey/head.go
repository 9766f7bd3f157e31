package rowkey

import "slices"

// Head returns the end of the first field that a row holds whole, including the constants that follow it. All rows that begin with these
// bytes have the same value of that field. It returns 0 if no part of the key holds a field, or the key could not have made row.
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
