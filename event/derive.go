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
}

// derive makes the fields of an event that no record holds, and leaves it out where it is not kept. An event that was not kept before the
// change, or could not be one, has left no rows.
func (d *Decoder) derive(ev *Event) *Error {
	keep, err := d.evaluator.Derive(ev.Values)
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
