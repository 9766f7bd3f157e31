package rowkey

import (
	"maps"
	"slices"
)

// Tail is what orders the rows of an answer: the parts of a key behind those that the bounds, or a salt bucket, fix.
type Tail struct {
	At    int      // the number of bytes before it, which are the same in all rows of a bucket
	parts []string // as written
}

// Tail returns what orders the rows in each bucket of Ranges. Its errors are those of Ranges.
func (k *Key) Tail(bounds map[string]Bound) (Tail, error) {
	w, err := k.walk(bounds)
	if err != nil {
		return Tail{}, err
	}
	t := Tail{At: len(w.prefixes[0])}
	for _, s := range k.slots[w.passed:] {
		t.parts = append(t.parts, s.expr())
	}
	return t, nil
}

// Agrees reports whether rows of both can be merged byte by byte, because the parts of one are a prefix of the other's.
func (t Tail) Agrees(o Tail) bool {
	n := min(len(t.parts), len(o.parts))
	return slices.Equal(t.parts[:n], o.parts[:n])
}

// Same reports whether rows under two keys whose tails are equal bytes belong to the same event or entity: both keys hold the same fields,
// equally exactly.
func (t Tail) Same(k, other *Key, o Tail) bool {
	return slices.Equal(t.parts, o.parts) && k.HoldsAs(other)
}

// HoldsAs reports whether both keys hold the same fields, equally exactly, so that their rows tell the same events and entities apart.
func (k *Key) HoldsAs(other *Key) bool {
	return len(k.hashed) == 0 && maps.Equal(k.loses, other.loses)
}

// Gives reports whether Decode returns the values of a field exactly as Append took them.
func (k *Key) Gives(field string) bool {
	loses, read := k.loses[field]
	return read && loses == 0
}
