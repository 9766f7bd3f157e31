package derive

import (
	"slices"

	"brine/event"
)

// Rules are the compiled expressions of a pipeline. They do not change, and any number of evaluators may share them.
type Rules struct {
	fields []event.Field
	record int          // fields of the record; what lets[i] makes is field record+i
	lets   []expression // conditions among them
	when   *expression  // nil: every event is kept

	before, after []int // lets that when needs, and the others: one that fails for events which when leaves out does no harm
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
}

// Sources are the fields of the record that an expression's answer follows from, by position: of the let or condition that makes a
// field.
func (r *Rules) Sources(field string) []int {
	i := slices.IndexFunc(r.fields, func(f event.Field) bool { return f.Name == field })
	switch {
	case i < 0:
		return nil
	case i < r.record:
		return []int{i}
	}
	return r.sources(&r.lets[i-r.record], nil)
}

// WhenSources are those of When.
func (r *Rules) WhenSources() []int {
	if r.when == nil {
		return nil
	}
	return r.sources(r.when, nil)
}

func (r *Rules) sources(e *expression, out []int) []int {
	for _, f := range e.names {
		if f >= r.record {
			out = r.sources(&r.lets[f-r.record], out)
		} else if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// Made are the positions of the fields that are made: from the first on, all.
func (r *Rules) Made() int { return r.record }
