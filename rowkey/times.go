package rowkey

// HoldsTime reports whether the first n bytes of a row hold part of a time. A split point for which it is true is useless for future rows:
// those of any one prefix before the time all fall on one side of it.
func (k *Key) HoldsTime(row []byte, n int) bool {
	at := 0
	for i := range k.slots {
		if at >= n {
			return false
		}
		s := &k.slots[i]
		width, err := s.measure(row[at:])
		if err != nil {
			return false // not a row of the key
		}
		if s.isTime() {
			return true
		}
		at += width
	}
	return false
}

func (s *slot) isTime() bool {
	n, ok := s.part.(*number)
	return ok && n.typ == Time
}
