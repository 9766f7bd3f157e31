package event

import "strings"

// Deriver computes fields from others and decides which events are kept. It may be shared.
type Deriver interface {
	// Evaluator returns an evaluator for one goroutine.
	Evaluator() Evaluator
	// Reads returns the positions of the record's fields from which the expression of a setting is computed; known is false if no
	// expression has this setting.
	Reads(setting string) (fields []int, known bool)
	// Sources returns the positions of the record's fields from which a field that no record holds is computed. What is made of a field in
	// stop is not followed further.
	Sources(field string, stop ...string) []int
}

// Evaluator evaluates a Deriver for one decoder.
type Evaluator interface {
	// Derive fills the values of an event that no record holds, and reports whether the event is kept; if not, some may stay null. The result
	// depends on values alone. Texts that it makes may alias those of values.
	Derive(values []Value) (keep bool, err *Error)
	// DeriveDelete is Derive for a delete that holds only some fields, by position. The others are unknown. A result that depends on one of
	// them stays null, and the event is kept unless it is certain that it is not.
	DeriveDelete(values []Value, holds []bool) (keep bool, err *Error)
	// DeriveUpdate is Derive for an update without some fields, by position, which have not changed and whose values are not known. The
	// result of an expression on them has not changed either, and is Unsent, if everything else that it depends on is lasting: it never
	// changes in a row. Any other has no result, and the event is rejected; so it is if it cannot be decided whether it is kept.
	DeriveUpdate(values []Value, unsent, lasting []bool) (keep bool, err *Error)
	// DeriveFormer is Derive for the values that a row had before a change. What has no result is unknown: it stays null, and so does what
	// depends on it. kept is false only if it is certain that the row was not kept.
	DeriveFormer(values []Value) (kept bool)
}

// derive computes the fields of an event that no record holds, and leaves the event out if it is not kept. An event that was not kept
// before the change has left no rows. One that could not be evaluated was rejected, but the rows that it found may still be there.
func (d *Decoder) derive(ev *Event, gone bool) *Error {
	var keep bool
	var err *Error
	switch {
	case d.build.gone:
		keep, err = d.evaluator.DeriveDelete(ev.Values, d.partial.tombstone)
	case gone && d.schema.Envelope.keyOnly():
		keep, err = d.evaluator.DeriveDelete(ev.Values, d.partial.keyOnly)
	case d.build.unsent:
		keep, err = d.evaluator.DeriveUpdate(ev.Values, d.partial.unsent, d.partial.lasting)
	default:
		keep, err = d.evaluator.Derive(ev.Values)
	}
	switch {
	case err != nil:
		return err
	case !keep:
		ev.LeftOut, ev.Former = Filtered, nil
	case ev.Former != nil && !d.evaluator.DeriveFormer(ev.Former):
		ev.Former = nil
	}
	return nil
}

// partial are the fields, by position, of events that do not hold all.
type partial struct {
	tombstone []bool // that a record without a value holds
	keyOnly   []bool // that a delete holds whose before-image holds only the primary key
	unsent    []bool // that the current event lacks because the database did not send them; see Builder.unsent
	lasting   []bool // that are the same in all events of a row
}

func (s *Schema) partial() (p partial) {
	for i := range s.Fields {
		f := &s.Fields[i]
		p.tombstone = append(p.tombstone, f.OfTombstone() || f.Name == s.Images.Deleted || s.Envelope.makes(*f))
		p.keyOnly = append(p.keyOnly, !s.ofRow(f) || s.Envelope.knowsFormer(f.Name))
		p.lasting = append(p.lasting, !f.Const.Null() || f.Place == RecordTopic || f.Place == InKey || s.Envelope.identifies(f.Name))
	}
	p.unsent = make([]bool, len(s.Fields))
	return p
}

// ofRow reports whether the field is a column of the row that a change is about, and nothing that stands around the row in the record's
// value, beside the value, or in no record.
func (s *Schema) ofRow(f *Field) bool {
	switch {
	case !f.OfValue(), f.Name == s.Images.Deleted, s.Envelope.makes(*f):
		return false
	case s.Envelope.bare():
		return !ofEnvelope(f.Keys()[0])
	}
	return within(f.Keys(), s.Images.After)
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
