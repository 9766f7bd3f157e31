package rowkey

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Bound limits one field of a range. Equal binds the field to one value. From and To bound the field after the last one bound by Equal:
// From is inclusive and To exclusive, unless Through is set, in the field's own order whatever the key's. Null means open.
type Bound struct {
	Equal    Value
	From, To Value
	Through  bool // To is inclusive
}

func (b Bound) bindsOne() bool { return !b.Equal.Null() }
func (b Bound) ranges() bool   { return !b.From.Null() || !b.To.Null() }
func (b Bound) open() bool     { return !b.bindsOne() && !b.ranges() }

// Range is the rows from Start (inclusive) to Stop (exclusive; nil means the end of the table).
type Range struct{ Start, Stop []byte }

// Contains reports whether row lies in the range.
func (r Range) Contains(row []byte) bool {
	return string(row) >= string(r.Start) && (r.Stop == nil || string(row) < string(r.Stop))
}

// Ranges returns the row ranges that hold exactly the rows whose fields satisfy bounds, in ascending order. There is one range; or one per
// salt bucket if the salt cannot be computed from the bound fields; or several for the From and To of a text whose separator sorts among
// its values; or none if no value satisfies the bounds. Bounds must bind a left-most set of the key's fields, the last one possibly to From
// and To. Otherwise the error (*UsageError) names the missing field.
//
// If the key holds a geohash, the name geohash may bind its first digits instead of its fields: the range is then the rows of all places in
// that cell.
//
// If the key holds a time in a coarser unit, the ranges include the rows of the units that From and To−1 ms fall into, so that none is
// missed. If it holds a float in 32 bits, bounds are rounded as values are.
func (k *Key) Ranges(bounds map[string]Bound) ([]Range, error) {
	w, err := k.walk(bounds)
	if err != nil {
		return nil, err
	}
	return w.under(w.ranges), nil
}

func (k *Key) walk(bounds map[string]Bound) (*walk, error) {
	w := &walk{key: k, prefixes: [][]byte{nil}, values: make([]Value, len(k.fields)), open: map[string]bool{}}
	if err := w.take(bounds); err != nil {
		return nil, err
	}
	for _, s := range k.slots {
		ranged, err := w.step(s.part, bounds)
		if w.ranges = ranged; err != nil || ranged != nil {
			return w, err
		}
		if w.stopped {
			break
		}
		w.passed++
	}
	w.ranges = []Range{{}}
	if !w.stopped && k.slots[len(k.slots)-1].width() == 0 {
		w.ranges = []Range{{Stop: []byte{0}}} // all fields are bound and the key ends in a text: this row only, not those that begin with it
	}
	return w, nil
}

// walk visits a key's parts from the left for as long as they are bound.
type walk struct {
	key      *Key
	prefixes [][]byte        // of the parts so far: one, or one per bucket
	values   []Value         // of the fields bound to one value
	open     map[string]bool // bound fields that no part has used yet
	cell     []byte          // the beginning of the geohash; nil if it is not bound
	stopped  bool            // at a part that is not bound
	passed   int             // parts in the prefixes
	ranges   []Range         // relative to each prefix, at the walk's end
}

// take checks the bounds, and picks those that bind one value.
func (w *walk) take(bounds map[string]Bound) error {
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		i := slices.IndexFunc(w.key.fields, func(f field) bool { return f.name == name })
		if g := w.key.geohash(); i < 0 && g != nil && name == GeohashBound {
			if err := w.takeCell(g, bounds); err != nil {
				return err
			}
			continue
		}
		if i < 0 {
			return &UsageError{name, fmt.Sprintf("the key %s does not hold %s", w.key, name),
				suggest(name, w.key.Fields(), "bind "+strings.Join(w.key.Fields(), ", ")+", from the left")}
		}
		f, b := w.key.fields[i], bounds[name]
		if b.open() {
			continue
		}
		if b.bindsOne() && b.ranges() {
			return &UsageError{name, name + " is bound to one value and to a range", "give Equal, or From and To"}
		}
		for _, v := range []Value{b.Equal, b.From, b.To} {
			if !v.Null() && v.Type != f.typ {
				return f.mismatch(v.Type)
			}
		}
		w.values[i] = b.Equal
		w.open[name] = true
	}
	return nil
}

// takeCell checks the bound on a geohash.
func (w *walk) takeCell(g *geohash, bounds map[string]Bound) error {
	b := bounds[GeohashBound]
	if b.open() {
		return nil
	}
	cell := b.Equal.Text
	if b.ranges() || b.Equal.Type != Text || len(cell) == 0 || len(cell) > g.n {
		return &UsageError{GeohashBound, fmt.Sprintf("a geohash is bound to its first digits, 1 to %d of them", g.n), "write them, such as ws10"}
	}
	if err := checkGeohash(cell); err != nil {
		return &UsageError{GeohashBound, err.Error(), "write a geohash in lower case"}
	}
	for _, f := range g.fields {
		if !bounds[f.name].open() {
			return &UsageError{f.name, "both " + f.name + " and its geohash are bound", "bind one of the two"}
		}
	}
	w.cell, w.open[GeohashBound] = cell, true
	return nil
}

// step adds one part to the prefixes. It ends the walk by returning the ranges of a From and To, or by setting stopped.
func (w *walk) step(p part, bounds map[string]Bound) ([]Range, error) {
	if g, ok := p.(*geohash); ok && w.cell != nil {
		return w.stepInto(g)
	}
	if unbound := w.firstUnbound(p); unbound != nil {
		if s, ok := p.(*salt); ok {
			w.fanOut(s)
			return nil, nil
		}
		b := bounds[unbound.name]
		if len(held(p)) == 0 || b.open() {
			w.stopped = true
			return nil, w.unused(p, unbound.name)
		}
		delete(w.open, unbound.name)
		if err := w.unused(p, unbound.name); err != nil {
			return nil, err
		}
		o, ok := p.(ordered)
		if !ok {
			return nil, notOrdered(p, unbound.name)
		}
		to := b.To
		if b.Through && !to.Null() {
			to = after(p, to)
		}
		ranges, err := o.ranges(b.From, to)
		if ranges == nil {
			ranges = []Range{} // no value satisfies the bound: the walk ends without a range
		}
		return ranges, err
	}
	for _, f := range p.reads() {
		if len(held(p)) > 0 || !w.key.gives(f) {
			delete(w.open, f.name)
		}
	}
	for i := range w.prefixes {
		var err error
		if w.prefixes[i], err = p.append(w.prefixes[i], w.values); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// after returns the least value above v that p distinguishes from it, or null if there is none.
func after(p part, v Value) Value {
	n, isNumber := p.(*number)
	switch {
	case v.Type == Text:
		return Value{Type: Text, Text: append(slices.Clone(v.Text), 0)}
	case v.Type == Float && isNumber && !n.isNaN(v.Int):
		if f := floatOf(floatOrdinal(v.Float(), n.bits)+1, n.bits); !math.IsNaN(f) {
			return FloatValue(f)
		}
		return Value{}
	case v.Type == Float:
		return v // ranges refuses it
	case v.Type == Bool && v.Int != 0 || v.Int == math.MaxInt64:
		return Value{}
	}
	return Value{Type: v.Type, Int: v.Int + 1}
}

func notOrdered(p part, field string) error {
	e := &UsageError{field, fmt.Sprintf("%s is not in the order of %s, so no scan ranges over it", p.expr(), field),
		"bind " + field + " to one value"}
	if _, ok := p.(*geohash); ok {
		e.Fix = "bind " + GeohashBound + " to the beginning of the geohashes"
	}
	return e
}

// stepInto ends the walk within the cell that the bound on the geohash names, or steps over the cell if the bound is a whole geohash.
func (w *walk) stepInto(g *geohash) ([]Range, error) {
	delete(w.open, GeohashBound)
	if len(w.cell) < g.n {
		return []Range{{Start: w.cell, Stop: next(w.cell)}}, w.unused(g, GeohashBound)
	}
	for i := range w.prefixes {
		w.prefixes[i] = append(w.prefixes[i], w.cell...)
	}
	return nil, nil
}

// firstUnbound returns the first field that p reads and that is not bound to one value, or nil.
func (w *walk) firstUnbound(p part) *field {
	for _, f := range p.reads() {
		if w.values[f.pos].Null() {
			return &f
		}
	}
	return nil
}

func (w *walk) fanOut(s *salt) {
	var prefixes [][]byte
	for _, before := range w.prefixes {
		for bucket := range s.buckets {
			prefixes = append(prefixes, s.appendBucket(slices.Clone(before), bucket))
		}
	}
	w.prefixes = prefixes
}

// unused returns the error for bounds to the right of the part at which the walk ends, or nil if there are none.
func (w *walk) unused(p part, missing string) error {
	if len(w.open) == 0 {
		return nil
	}
	rest := strings.Join(slices.Sorted(maps.Keys(w.open)), ", ")
	return &UsageError{missing,
		fmt.Sprintf("the key %s has %s before %s, so a range needs %s bound to one value", w.key, p.expr(), rest, missing),
		fmt.Sprintf("bind %s to one value, or query a table or an index that leads with %s", missing, rest)}
}

// gives reports whether f can be read back from the key, instead of only being hashed.
func (k *Key) gives(f field) bool {
	return !slices.Contains(k.hashed, f.pos)
}

// under prepends each of the walk's prefixes to the ranges, which are relative to the walk's end.
func (w *walk) under(ranges []Range) []Range {
	if len(ranges) == 0 {
		return nil
	}
	all := make([]Range, 0, len(w.prefixes)*len(ranges))
	for _, prefix := range w.prefixes {
		for _, r := range ranges {
			start := append(slices.Clone(prefix), r.Start...)
			stop := next(prefix)
			if r.Stop != nil {
				stop = append(slices.Clone(prefix), r.Stop...)
			}
			all = append(all, Range{start, stop})
		}
	}
	return all
}

// next returns the first row after all rows that begin with prefix, which is prefix + 1, or nil if there is none.
func next(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			stop := slices.Clone(prefix[:i+1])
			stop[i]++
			return stop
		}
	}
	return nil
}
