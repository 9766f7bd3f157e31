package derive

import (
	"slices"

	"brine/event"
)

// Rules are the compiled expressions of a pipeline. They are immutable, so any number of evaluators may share them.
type Rules struct {
	fields []event.Field
	record int          // number of the record's fields; lets[i] makes field record+i
	lets   []expression // including conditions
	when   *expression  // nil: every event is kept

	before, after []int // lets that when needs, and the others, which cannot fail for events that when drops

	reads [][]int // by let, the record's fields on which it depends; those of when last
}

// KeepAll returns the rules without when: every event is kept, and all derived fields are made.
func (r *Rules) KeepAll() event.Deriver {
	all := *r
	all.when, all.before, all.after = nil, nil, nil
	for i := range all.lets {
		all.after = append(all.after, i)
	}
	return &all
}

// plan orders the lets around when.
func (r *Rules) plan() {
	needed := make([]bool, len(r.lets))
	var need func(e *expression)
	need = func(e *expression) {
		for _, f := range e.names {
			if i := f - r.record; i >= 0 && !needed[i] {
				needed[i] = true
				need(&r.lets[i])
			}
		}
	}
	if r.when != nil {
		need(r.when)
	}
	for i := range r.lets {
		if needed[i] {
			r.before = append(r.before, i)
		} else {
			r.after = append(r.after, i)
		}
	}
	for i := range r.lets {
		r.reads = append(r.reads, r.sources(&r.lets[i], nil, nil))
	}
	if r.when != nil {
		r.reads = append(r.reads, r.sources(r.when, nil, nil))
	}
}

// Beside reports whether the let of a field depends on nothing in a record's value.
func (r *Rules) Beside(field string) bool {
	i := slices.IndexFunc(r.fields, func(f event.Field) bool { return f.Name == field })
	return i >= r.record && !slices.ContainsFunc(r.reads[i-r.record], func(f int) bool { return !r.fields[f].OfTombstone() })
}

// When is the name of when in Sources.
const When = ""

// Sources returns, by position, the fields on which a result depends: that of the let or condition that makes field, or that of When.
// Derived fields are replaced by those from which they are made, except for the fields in stop.
func (r *Rules) Sources(field string, stop ...string) []int {
	if field == When {
		if r.when == nil {
			return nil
		}
		return r.sources(r.when, stop, nil)
	}
	i := slices.IndexFunc(r.fields, func(f event.Field) bool { return f.Name == field })
	if i < r.record {
		return nil
	}
	return r.sources(&r.lets[i-r.record], stop, nil)
}

// Reads implements event.Deriver.
func (r *Rules) Reads(setting string) (fields []int, known bool) {
	if r.when != nil && r.when.setting == setting {
		return r.sources(r.when, nil, nil), true
	}
	for i := range r.lets {
		if r.lets[i].setting == setting {
			return r.sources(&r.lets[i], nil, nil), true
		}
	}
	return nil, false
}

func (r *Rules) sources(e *expression, stop []string, out []int) []int {
	for _, f := range e.names {
		if f >= r.record && !slices.Contains(stop, r.fields[f].Name) {
			out = r.sources(&r.lets[f-r.record], stop, out)
		} else if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// Named returns the positions of the fields that any expression names.
func (r *Rules) Named() (out []int) {
	if r.when != nil {
		out = append(out, r.when.names...)
	}
	for i := range r.lets {
		out = append(out, r.lets[i].names...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
