package event

// Deriver makes fields out of others, and says which events are kept. It may be shared.
type Deriver interface {
	// Evaluator returns one for a goroutine of its own.
	Evaluator() Evaluator
}

// Evaluator does what a Deriver says, for one decoder.
type Evaluator interface {
	// Derive fills those of an event's values that no record holds, and reports whether the event is kept: of one that is not, some may
	// stay null. What it answers follows from values alone. Texts that it makes may alias those of values.
	Derive(values []Value) (keep bool, err *Error)
	// DeriveTombstone is Derive for a record without a value. Nobody knows the fields that lie in the value, so what names one of them is
	// not asked: it leaves what it would make null, and the event is kept.
	DeriveTombstone(values []Value) (keep bool, err *Error)
}

// derive makes the fields of an event that no record holds, and leaves it out where it is not kept. An event that was not kept before the
// change, or could not be one, has left no rows.
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

// Condition is a field that says whether an event becomes something in one place.
type Condition struct {
	Field int    // in the schema; a Bool that the schema's Derive makes
	Of    string // the place: a table's or an index's name
}

// Fails reports whether the condition says no of the event. One that has no answer, for which the place rejects the event, does not.
func (c Condition) Fails(ev *Event) bool {
	holds, err := ev.Holds(c.Field)
	return err == nil && !holds
}

// Conditions are the conditions of places, by the names of their fields; those of places without one are empty.
func (s Schema) Conditions(of, fields []string) (out []Condition) {
	for i, name := range fields {
		if name != "" {
			out = append(out, Condition{Field: s.position(name), Of: of[i]})
		}
	}
	return out
}

// Holds reports what the condition that made field n answers for the event; n -1: there is none, and it holds. A condition that has no
// answer has made a Text that says why. One that nobody asked, as of an event that is made of a row, holds.
func (e *Event) Holds(n int) (bool, *Error) {
	if n < 0 || e.Values[n].Null() {
		return true, nil
	}
	if v := e.Values[n]; v.Type != Bool {
		return false, &Error{Reason: BadExpression, Detail: string(v.Text())}
	}
	return e.Values[n].Bool(), nil
}
