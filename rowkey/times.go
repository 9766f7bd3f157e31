package rowkey

// InTime tells whether the byte at an offset of a row lies in a part that is a time. A split there is none for the rows to
// come: they all fall to one side of it.
func (k *Key) InTime(row []byte, offset int) bool {
	at := 0
	for i := range k.slots {
		s := &k.slots[i]
		n, err := s.measure(row[at:])
		if err != nil {
			return false // no row of the key
		}
		if offset < at+n {
			return s.isTime()
		}
		at += n
	}
	return false
}

func (s *slot) isTime() bool {
	n, ok := s.part.(*number)
	return ok && n.typ == Time
}
