package sqlconsole

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"brine/event"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

// compare compares two values of one type: texts by their bytes, false before true.
func compare(a, b event.Value) int {
	switch a.Type {
	case event.Float:
		return cmp.Compare(a.Float(), b.Float())
	case event.Decimal:
		return event.CompareDecimals(a, b)
	case event.Text, event.Nested, event.Bytes:
		return bytes.Compare(a.Text(), b.Text())
	case event.Bool:
		switch {
		case a.Bool() == b.Bool():
			return 0
		case b.Bool():
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Int(), b.Int())
}

// after returns the least value above v, and false if there is none.
func after(v event.Value) (event.Value, bool) {
	switch v.Type {
	case event.Text, event.Nested:
		return event.TextValue(string(v.Text()) + "\x00"), true
	case event.Float:
		next := math.Nextafter(v.Float(), math.Inf(1))
		return event.FloatValue(next), !math.IsInf(next, 0)
	case event.TimeMS:
		return event.TimeValue(v.Int() + 1), v.Int() < math.MaxInt64
	case event.Int, event.Date, event.TimeUS, event.TimeNS:
		return event.InstantValue(v.Type, v.Int()+1), v.Int() < math.MaxInt64
	}
	return v, false
}

// behind returns the least text above all those with a prefix, and false if there is none.
func behind(prefix []byte) (event.Value, bool) {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return event.TextValue(string(prefix[:i]) + string([]byte{prefix[i] + 1})), true
		}
	}
	return event.Value{}, false
}

// interval is what conditions leave of a column: some values, or all between two bounds. Null means unbounded.
type interval struct {
	listed   bool
	values   []event.Value
	from, to event.Value // inclusive, exclusive
	none     bool
}

// add narrows the interval by a condition. It returns false if the condition does not concern the values' order.
func (i *interval) add(t *test) bool {
	switch t.op {
	case Eq, In:
		i.only(t.values)
	case Ge:
		i.least(t.values[0])
	case Gt:
		v, ok := after(t.values[0])
		i.none = i.none || !ok
		i.least(v)
	case Lt:
		i.most(t.values[0], true)
	case Le:
		i.most(after(t.values[0]))
	case Between:
		i.least(t.values[0])
		i.most(after(t.values[1]))
	case Like:
		i.least(t.values[0])
		i.most(behind(t.values[0].Text()))
	default:
		return false
	}
	i.settle()
	return true
}

func (i *interval) only(values []event.Value) {
	if !i.listed {
		i.listed, i.values = true, slices.Clone(values)
		return
	}
	i.values = slices.DeleteFunc(i.values, func(v event.Value) bool {
		return !slices.ContainsFunc(values, func(w event.Value) bool { return compare(v, w) == 0 })
	})
}

func (i *interval) least(v event.Value) {
	if v.Type == event.Float && v.Float() == 0 {
		v = event.FloatValue(math.Copysign(0, -1)) // which sorts right before 0 in keys
	}
	if i.from.Null() || compare(v, i.from) > 0 {
		i.from = v
	}
}

func (i *interval) most(v event.Value, ok bool) {
	switch {
	case !ok:
		return
	case v.Type == event.Float && v.Float() == 0:
		v = event.FloatValue(math.Copysign(0, -1))
	}
	if i.to.Null() || compare(v, i.to) < 0 {
		i.to = v
	}
}

// settle keeps only the values within the bounds, sorted and without duplicates.
func (i *interval) settle() {
	if !i.listed {
		i.none = i.none || !i.from.Null() && !i.to.Null() && compare(i.from, i.to) >= 0
		return
	}
	i.values = slices.DeleteFunc(i.values, func(v event.Value) bool {
		return !i.from.Null() && compare(v, i.from) < 0 || !i.to.Null() && compare(v, i.to) >= 0
	})
	slices.SortFunc(i.values, compare)
	i.values = slices.CompactFunc(i.values, func(a, b event.Value) bool { return compare(a, b) == 0 })
	i.none = i.none || len(i.values) == 0
}

// vast reports whether the interval leaves out none of the values that tables have: its bounds are missing, or at the ends of the type. For
// times, these ends are 1970 and now.
func (i *interval) vast(now time.Time) bool {
	switch {
	case i.none:
		return false
	case i.listed:
		return len(i.values) == 2 && i.values[0].Type == event.Bool
	}
	return (i.from.Null() || least(i.from)) && (i.to.Null() || most(i.to, now))
}

// least reports whether hardly any value of the type is less than v.
func least(v event.Value) bool {
	switch v.Type {
	case event.Text, event.Nested, event.Bytes:
		return bytes.Count(v.Text(), []byte{0}) == len(v.Text())
	case event.Float:
		return v.Float() < -1e308
	case event.Int:
		return v.Int() <= math.MinInt64+1
	case event.Decimal, event.Bool:
		return false
	}
	return v.Int() <= 1 // ms, µs, ns or days since 1970
}

// most reports whether hardly any value of the type is v or more.
func most(v event.Value, now time.Time) bool {
	switch v.Type {
	case event.Text, event.Nested, event.Bytes:
		text := bytes.TrimRight(v.Text(), "\x00") // of the text right after another
		return len(text) > 0 && bytes.Count(text, []byte{0xff}) == len(text)
	case event.Float:
		return v.Float() > 1e308
	case event.Int:
		return v.Int() == math.MaxInt64
	case event.Decimal, event.Bool:
		return false
	case event.TimeUS:
		return v.Int() > now.UnixMicro()
	case event.TimeNS:
		return v.Int() > now.UnixNano()
	case event.Date:
		return v.Int() > now.Unix()/86400
	}
	return v.Int() > now.UnixMilli()
}

// bounds returns the interval as a key takes it, one bound per value.
func (i *interval) bounds() (out []rowkey.Bound) {
	if !i.listed {
		return []rowkey.Bound{{From: eventkey.Value(i.from), To: eventkey.Value(i.to)}}
	}
	for _, v := range i.values {
		out = append(out, rowkey.Bound{Equal: eventkey.Value(v)})
		if v.Type == event.Float && v.Float() == 0 { // −0 is another value in the key
			out = append(out, rowkey.Bound{Equal: rowkey.FloatValue(-v.Float())})
		}
	}
	return out
}

// The limits of a plan.
const (
	maxWays   = 1_000 // combinations of values, each of which has a range
	maxFields = 8     // of the key, whose subsets are searched for a plan
)

// access is the part of the conditions that becomes ranges of the key.
type access struct {
	fields map[string]int // number of values to which each is bound; 0 if it is bound to a range
	any    []map[string]rowkey.Bound
}

// choose finds the largest set of fields for which the key makes ranges. Among sets of the same size, it prefers the fields that come first
// in the key.
func choose(t *Table, limits map[string]*interval) access {
	var names []string
	for _, name := range t.Keys.Fields() {
		l := limits[name]
		if l != nil && !l.none && len(names) < maxFields && (len(t.Keys) == 1 || !l.listed || len(l.bounds()) == 1) {
			names = append(names, name)
		}
	}
	best := access{any: []map[string]rowkey.Bound{{}}}
	for set := 1<<len(names) - 1; set > 0; set-- {
		a := access{fields: map[string]int{}, any: []map[string]rowkey.Bound{{}}}
		for i, name := range names {
			if set&(1<<(len(names)-1-i)) != 0 {
				a.bind(name, limits[name])
			}
		}
		if len(a.fields) > len(best.fields) && len(a.any) <= maxWays && a.serves(t) {
			best = a
		}
	}
	best.possible(t)
	return best
}

func (a *access) bind(name string, l *interval) {
	bounds := l.bounds()
	if a.fields[name] = 0; l.listed {
		a.fields[name] = len(bounds)
	}
	if len(a.any)*len(bounds) > maxWays { // too many combinations
		a.any = make([]map[string]rowkey.Bound, maxWays+1)
		return
	}
	var all []map[string]rowkey.Bound
	for _, where := range a.any {
		for _, b := range bounds {
			one := map[string]rowkey.Bound{name: b}
			for other, bound := range where {
				one[other] = bound
			}
			all = append(all, one)
		}
	}
	a.any = all
}

// serves reports whether the key makes ranges of the fields. A value that no key can hold is no obstacle.
func (a *access) serves(t *Table) bool {
	var value *rowkey.ValueError
	err := t.CheckToken(a.any[0], "")
	return err == nil || errors.As(err, &value)
}

// possible drops values that no row can have because no key can hold them.
func (a *access) possible(t *Table) {
	if len(a.fields) == 0 {
		return
	}
	a.any = slices.DeleteFunc(a.any, func(where map[string]rowkey.Bound) bool {
		var value *rowkey.ValueError
		return errors.As(t.CheckToken(where, ""), &value)
	})
}

// bound reports whether a field has a single value in each of the ranges, or several if the ranges are merged.
func (a *access) bound(name string, merged bool) bool {
	n := a.fields[name]
	return n == 1 || merged && n > 1
}
