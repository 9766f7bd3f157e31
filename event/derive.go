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
