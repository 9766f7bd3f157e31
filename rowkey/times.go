package rowkey

import (
	"slices"
	"time"
)

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

// TimeOrder is how a key orders rows by a time.
type TimeOrder struct {
	Desc bool   // the newest first
	Unit string // the key holds the time only in this unit, for example hour; empty: as exactly as the field
	Then string // the part that orders the rows of one Unit; empty: there is at most one
}

// TimeOrder returns how the key orders the rows of all buckets by the time at, if the fields of bound have one value each. ok is false if
// something other than that time orders them first.
func (k *Key) TimeOrder(at string, bound func(name string) bool) (o TimeOrder, ok bool) {
	var by *number
	bucket := "" // the salt, if rows of different buckets may be equal behind it
	free := func(f field) bool { return !bound(f.name) }
	for _, s := range k.slots {
		n, _ := s.part.(*number)
		_, salts := s.part.(*salt)
		switch {
		case n != nil && n.name == at:
			if by == nil {
				by, o.Desc = n, n.desc
			}
			if n.desc != o.Desc && free(n.field) {
				return o.within(by, s.expr()), true
			}
			if n.unit.div < by.unit.div {
				by = n
			}
			if n.exact() {
				return TimeOrder{Desc: o.Desc}, true
			}
		case salts:
			if slices.ContainsFunc(s.reads(), func(f field) bool { return free(f) && f.name != at && !k.gives(f) }) {
				bucket = s.expr()
			}
		case !slices.ContainsFunc(s.reads(), free):
		case by == nil:
			return o, false
		case slices.ContainsFunc(s.reads(), func(f field) bool { return free(f) && (f.name != at || f.kept == nil) }):
			return o.within(by, s.expr()), true
		}
	}
	if by == nil {
		return o, false
	}
	return o.within(by, bucket), true
}

func (o TimeOrder) within(by *number, then string) TimeOrder {
	return TimeOrder{o.Desc, by.unit.one(), then}
}

// exact reports whether two different times never have the same number.
func (n *number) exact() bool {
	unit := time.Duration(n.unit.div) * time.Millisecond
	return n.unit.div == 1 || n.whole > 0 && n.whole%unit == 0
}
