// Package eventkey binds a row key to the fields of a pipeline's events, so that every package that needs an event's row makes the same
// one. It connects the pure packages event and rowkey, which do not know each other.
//
// The invariant: an event has one row key, whichever caller makes it.
package eventkey

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/event"
	"brine/rowkey"
)

// Encoder makes the row keys of a pipeline's events. It keeps a buffer, so each goroutine needs its own.
type Encoder struct {
	key    *rowkey.Key
	at     []int // the position of each of the key's fields among the event's values
	values []rowkey.Value
}

// Parse parses a key over the fields of a schema and more, which are not fields of an event, such as a word of one of its texts.
func Parse(expr string, schema event.Schema, more ...rowkey.Field) (*rowkey.Key, error) {
	fields := slices.Clone(more)
	for _, f := range schema.Fields {
		fields = append(fields, rowkey.Field{Name: f.Name, Type: Type(f.Type)})
	}
	return rowkey.Parse(expr, fields)
}

// New binds a key to a schema. It returns an error if the key names a field that the schema lacks.
func New(key *rowkey.Key, schema event.Schema) (*Encoder, error) {
	e := &Encoder{key: key}
	for _, name := range key.Fields() {
		i := slices.IndexFunc(schema.Fields, func(f event.Field) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("the key %s names field %q, which the pipeline does not declare", key, name)
		}
		e.at = append(e.at, i)
	}
	e.values = make([]rowkey.Value, len(e.at))
	return e, nil
}

// Append appends the row key of ev to dst. It does not allocate if dst has room. Its error is an *event.Error, which means that the event
// cannot have a row.
func (e *Encoder) Append(dst []byte, ev *event.Event) ([]byte, error) {
	for i, at := range e.at {
		e.values[i] = Value(ev.Values[at])
	}
	row, err := e.key.Append(dst, e.values)
	if err != nil {
		return dst, reject(err)
	}
	return row, nil
}

// reject returns the reason that an event cannot have a row.
func reject(err error) *event.Error {
	var fault *rowkey.ValueError
	if !errors.As(err, &fault) {
		return &event.Error{Reason: event.BadKey, Detail: err.Error()}
	}
	reason := event.BadKey
	switch {
	case fault.Missing:
		reason = event.MissingField
	case fault.TooLong:
		reason = event.KeyTooLong
	}
	return &event.Error{Reason: reason, Field: fault.Field, Detail: fault.Msg}
}

// Value converts an event's value to a key's.
func Value(v event.Value) rowkey.Value {
	switch v.Type {
	case event.Text:
		return rowkey.Value{Type: rowkey.Text, Text: v.Text()}
	case event.Int, event.Date, event.TimeUS, event.TimeNS:
		return rowkey.Value{Type: rowkey.Int, Int: v.Int()}
	case event.TimeMS:
		return rowkey.Value{Type: rowkey.Time, Int: v.Int()}
	case event.Float:
		return rowkey.FloatValue(v.Float())
	case event.Bool:
		return rowkey.BoolValue(v.Bool())
	}
	return rowkey.Value{}
}

// FieldValue converts a key's value to an event's. It is the inverse of Value, given the unit that the key's field declares: without it an
// Int is a number, and not the date or time that it counts.
func FieldValue(v rowkey.Value, unit time.Duration) event.Value {
	switch v.Type {
	case rowkey.Text:
		return event.TextValue(string(v.Text))
	case rowkey.Int:
		return event.InstantValue(Counted(unit), v.Int)
	case rowkey.Time:
		return event.TimeValue(v.Int)
	case rowkey.Float:
		return event.FloatValue(v.Float())
	case rowkey.Bool:
		return event.BoolValue(v.Int != 0)
	}
	return event.Value{}
}

// Unit returns what the key's integers of an event's type count since 1970, or 0 if they are not times or dates.
func Unit(t event.Type) time.Duration {
	switch t {
	case event.Date:
		return 24 * time.Hour
	case event.TimeUS:
		return time.Microsecond
	case event.TimeNS:
		return time.Nanosecond
	}
	return 0
}

// Counted returns the type whose values count a unit, the inverse of Unit; Int if none does.
func Counted(unit time.Duration) event.Type {
	for _, t := range [...]event.Type{event.Date, event.TimeUS, event.TimeNS} {
		if Unit(t) == unit {
			return t
		}
	}
	return event.Int
}

// Type returns the key's type for an event's type.
func Type(t event.Type) rowkey.Type {
	switch t {
	case event.Text:
		return rowkey.Text
	case event.Int, event.Date, event.TimeUS, event.TimeNS: // as the whole numbers that they count
		return rowkey.Int
	case event.TimeMS, event.TimeS, event.Time:
		return rowkey.Time
	case event.Float:
		return rowkey.Float
	case event.Bool:
		return rowkey.Bool
	}
	return 0
}
