package rowkey

import (
	"bytes"
	"math"
	"slices"
)

// ranges of a number: the ordinals of From and of the value before To, which change places when the key holds them counted
// down. A bound outside of what the key holds is moved to its edge.
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

// placeBound is the place of a bound; one beyond a 32-bit float is as good as infinite.
func (n *number) placeBound(v Value) (uint64, int) {
	if n.typ == Float {
		return floatOrdinal(v.Float(), n.bits), 0
	}
	return n.place(v.Int)
}

// placeBefore is the place of the value right before v.
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

// ranges of a text. In the key, x stands as x·sep, so the keys of all x ≥ from lie at or after from; but so may those of an x
// that from begins with (A| > AB). These have to be cut out, and likewise those that to begins with to be put in.
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

// keysOf are the keys that begin with x·sep.
func (t *text) keysOf(x []byte) Range {
	start := append(slices.Clone(x), t.sep...)
	return Range{start, next(start)}
}

// ranges of a text in a fixed width. With the pad 0 its order is the text's own; another pad would put a value that begins
// another elsewhere, so only that one can be ranged over.
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

// edge is where the values ≥ b begin; nil when there are none.
func (f *fixed) edge(b []byte) []byte {
	padded := appendPad(slices.Clone(b), 0, f.n-len(b))
	if len(b) <= f.n && !bytes.HasSuffix(b, []byte{0}) {
		return padded
	}
	return next(padded[:f.n]) // b itself cannot be held: it comes right after the value of these bytes
}

// cut takes the rows of c out of ranges, which are apart from each other and ascending; so is the result.
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

// join puts the rows of c into ranges, as cut takes them out.
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

// least is the smaller of two stops, where nil is the end of everything.
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

// Ordered returns the field by whose values the rows of each bucket are ordered, where the fields of bound have one value each, and
// whether the greatest comes first. It is false where no field is, as behind a hash, or where one value may begin another and the
// separator decides.
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
