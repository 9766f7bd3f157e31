package event

import "strings"

// Deriver computes fields from others and decides which events are kept. It may be shared.
type Deriver interface {
	// Evaluator returns an evaluator for one goroutine.
	Evaluator() Evaluator
	// Reads returns the positions of the record's fields from which the expression of a setting is computed; known is false if no
	// expression has this setting.
	Reads(setting string) (fields []int, known bool)
}

// Evaluator evaluates a Deriver for one decoder.
type Evaluator interface {
	// Derive fills the values of an event that no record holds, and reports whether the event is kept; if not, some may stay null. The result
	// depends on values alone. Texts that it makes may alias those of values.
	Derive(values []Value) (keep bool, err *Error)
	// DeriveTombstone is Derive for a record without a value. Fields in the value are unknown, so expressions that name one of them are not
	// evaluated: their results stay null, and the event is kept.
	DeriveTombstone(values []Value) (keep bool, err *Error)
}

// derive computes the fields of an event that no record holds, and leaves the event out if it is not kept. An event that was not kept
// before the change, or could not be evaluated, has left no rows.
func (d *Decoder) derive(ev *Event) *Error {
	ask := d.evaluator.Derive
	if d.build.gone {
		ask = d.evaluator.DeriveTombstone
	}
	keep, err := ask(ev.Values)
	switch {
	case err != nil:
		return err
	case !keep:
		ev.LeftOut, ev.Former = Filtered, nil
	case ev.Former != nil:
		if kept, err := d.evaluator.Derive(ev.Former); err != nil || !kept {
			ev.Former = nil
		}
	}
	return nil
}

// Condition is a field that decides whether an event is written in one place.
type Condition struct {
	Field int    // in the schema; a Bool that the schema's Derive makes
	Of    string // the place: a table's or an index's name
}

// Fails reports whether the condition is false for the event. A condition without an answer does not fail; the place rejects the event.
func (c Condition) Fails(ev *Event) bool {
	holds, err := ev.Holds(c.Field)
	return err == nil && !holds
}

// Conditions returns the conditions of places, by the names of their fields; names of places without one are empty.
func (s Schema) Conditions(of, fields []string) (out []Condition) {
	for i, name := range fields {
		if name != "" {
			out = append(out, Condition{Field: s.position(name), Of: of[i]})
		}
	}
	return out
}

// Holds reports whether the condition that made field n holds for the event; n -1: there is none, and it holds. A condition without an
// answer has made a Text, "SETTING: FAULT". A condition that was not evaluated, as for an event made of a row, holds.
func (e *Event) Holds(n int) (bool, *Error) {
	if n < 0 || e.Values[n].Null() {
		return true, nil
	}
	if v := e.Values[n]; v.Type != Bool {
		setting, fault, _ := strings.Cut(string(v.Text()), ": ")
		return false, &Error{Reason: BadExpression, Field: setting, Detail: fault}
	}
	return e.Values[n].Bool(), nil
}
