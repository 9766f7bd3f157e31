package rowkey

// HoldsTime reports whether the first n bytes of a row hold some of a time. A split point that does is none for the rows to come:
// those of the values before the time all fall to one side of it.
func (k *Key) HoldsTime(row []byte, n int) bool {
	at := 0
	for i := range k.slots {
		if at >= n {
			return false
		}
		s := &k.slots[i]
		width, err := s.measure(row[at:])
		if err != nil {
			return false // no row of the key
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
