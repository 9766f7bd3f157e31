package rowkey

import (
	"bytes"
	"math"
	"slices"
)

// ranges returns the interval of ordinals from From to the value before To, with its ends swapped if the key holds them in reverse. A bound
// outside of what the key holds is moved to its edge.
func (n *number) ranges(from, to Value) ([]Range, error) {
	first, last := uint64(0), n.top
	if !from.Null() {
		o, where := n.placeBound(from)
		switch {
		case n.isNaN(from.Int):
			return nil, n.refuse("is not a number")
		case where > 0:
			return nil, nil
		case where == 0:
			first = o
		}
	}
	if !to.Null() {
		if n.isNaN(to.Int) {
			return nil, n.refuse("is not a number")
		}
		o, where := n.placeBefore(to)
		switch {
		case where < 0:
			return nil, nil
		case where == 0:
			last = o
		}
	}
	if first > last {
		return nil, nil
	}
	if n.desc {
		first, last = last, first
	}
	r := Range{Start: n.appendOrdinal(nil, first), Stop: next(n.appendOrdinal(nil, last))}
	if n.desc && to.Null() || !n.desc && from.Null() {
		r.Start = nil
	}
	if n.desc && from.Null() || !n.desc && to.Null() {
		r.Stop = nil
	}
	return []Range{r}, nil
}

func (n *number) isNaN(x int64) bool {
	return n.typ == Float && math.IsNaN(math.Float64frombits(uint64(x)))
}

// placeBound returns the place of a bound. A bound beyond a 32-bit float counts as infinite.
func (n *number) placeBound(v Value) (uint64, int) {
	if n.typ == Float {
		return floatOrdinal(v.Float(), n.bits), 0
	}
	return n.place(v.Int)
}

// placeBefore returns the place of the value right before v.
func (n *number) placeBefore(v Value) (uint64, int) {
	if n.typ != Float && n.typ != Bool {
		if v.Int == math.MinInt64 {
			return 0, -1
		}
		v.Int--
		return n.place(v.Int)
	}
	o, _ := n.placeBound(v)
	if o == 0 {
		return 0, -1
	}
	return o - 1, 0
}

// ranges returns the key intervals of a range of texts. The key holds x as x·sep, so the keys of all x ≥ from lie at or after from. But so
// may those of an x that is a prefix of from (A| > AB): these are cut out. Likewise, those that are a prefix of to are put in.
func (t *text) ranges(from, to Value) ([]Range, error) {
	low, high := from.Text, to.Text
	if !to.Null() && bytes.Compare(low, high) >= 0 {
		return nil, nil
	}
	r := Range{Start: low}
	if !to.Null() {
		r.Stop = high
		if len(high) == 0 {
			return nil, nil
		}
	}
	ranges := []Range{r}
	if len(t.sep) == 0 {
		return ranges, nil
	}
	for n := range len(low) {
		if x := low[:n]; !holdsSeparator(x, t.sep) {
			ranges = cut(ranges, t.keysOf(x))
		}
	}
	for n := range len(high) {
		if x := high[:n]; bytes.Compare(x, low) >= 0 && !holdsSeparator(x, t.sep) {
			ranges = join(ranges, t.keysOf(x))
		}
	}
	return ranges, nil
}

// keysOf returns the keys that begin with x·sep.
func (t *text) keysOf(x []byte) Range {
	start := append(slices.Clone(x), t.sep...)
	return Range{start, next(start)}
}

// ranges returns the key interval of a range of texts in a fixed width. With the pad 0 on the right, the key order is that of the texts.
// Another pad would sort a value elsewhere than right after its prefixes, so no scan can range over it.
func (f *fixed) ranges(from, to Value) ([]Range, error) {
	if f.left || f.pad != 0 {
		return nil, &UsageError{f.name, f.expr() + " is not in the order of " + f.name + ", so no scan ranges over it",
			"bind " + f.name + " to one value, or pad it on the right with \"\\x00\""}
	}
	r := Range{}
	if !from.Null() {
		if r.Start = f.edge(from.Text); r.Start == nil {
			return nil, nil
		}
	}
	if !to.Null() {
		r.Stop = f.edge(to.Text)
		if len(to.Text) == 0 || r.Stop != nil && bytes.Compare(r.Start, r.Stop) >= 0 {
			return nil, nil
		}
	}
	return []Range{r}, nil
}

// edge returns the key at which the values ≥ b begin, or nil if there are none.
func (f *fixed) edge(b []byte) []byte {
	padded := appendPad(slices.Clone(b), 0, f.n-len(b))
	if len(b) <= f.n && !bytes.HasSuffix(b, []byte{0}) {
		return padded
	}
	return next(padded[:f.n]) // b itself does not fit: its successors come right after the value of these bytes
}

// cut removes the rows of c from ranges, which are disjoint and ascending; so is the result.
func cut(ranges []Range, c Range) []Range {
	var left []Range
	for _, r := range ranges {
		if before := (Range{r.Start, least(r.Stop, c.Start)}); len(c.Start) > 0 && !before.empty() {
			left = append(left, before)
		}
		if c.Stop == nil {
			continue
		}
		if after := (Range{greatest(r.Start, c.Stop), r.Stop}); !after.empty() {
			left = append(left, after)
		}
	}
	return left
}

// join adds the rows of c to ranges, with the same conditions as cut.
func join(ranges []Range, c Range) []Range {
	all := append(cut(ranges, c), c)
	slices.SortFunc(all, func(a, b Range) int { return bytes.Compare(a.Start, b.Start) })
	joined := all[:1]
	for _, r := range all[1:] {
		last := &joined[len(joined)-1]
		if bytes.Equal(last.Stop, r.Start) && last.Stop != nil {
			last.Stop = r.Stop
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}

func (r Range) empty() bool { return r.Stop != nil && bytes.Compare(r.Start, r.Stop) >= 0 }

// least returns the smaller of two stops; nil is the end of the table.
func least(a, b []byte) []byte {
	if a == nil || b != nil && bytes.Compare(b, a) < 0 {
		return b
	}
	return a
}

func greatest(a, b []byte) []byte {
	if bytes.Compare(a, b) > 0 {
		return a
	}
	return b
}

// Ordered returns the field whose values order the rows within each bucket if the fields of bound have one value each, and whether the
// greatest value comes first. ok is false if no field does: behind a hash, or if one value may be a prefix of another and the separator
// decides.
func (k *Key) Ordered(bound func(name string) bool) (by string, desc, ok bool) {
	for _, s := range k.slots {
		fields := s.reads()
		open := slices.IndexFunc(fields, func(f field) bool { return !bound(f.name) })
		if _, isSalt := s.part.(*salt); isSalt || open < 0 {
			continue
		}
		if !s.holds {
			return "", false, false
		}
		switch p := s.part.(type) {
		case *number:
			return p.name, p.desc, true
		case *text:
			return p.name, false, len(p.sep) == 0 || p.sep[0] == 0
		case *descText:
			return p.name, true, len(p.sep) > 0 && p.sep[0] == 0xff
		case *fixed:
			return p.name, false, !p.left && p.pad == 0
		}
		return "", false, false
	}
	return "", false, false
}
