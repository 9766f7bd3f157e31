package avro

import (
	"fmt"
	"slices"

	"brine/event"
)

// Misfit is a declared field that cannot hold what the schema has at its path.
type Misfit struct {
	Found, Fix string

	null bool // what the schema has is always null
}

func (m *Misfit) Error() string  { return m.Found + "; " + m.Fix }
func (m *Misfit) Advice() string { return m.Fix }

// Fits compares a declared field with the schema. The error is a *Misfit if no record can hold a value that the field accepts; of a union,
// one fitting branch is enough. It returns false if the schema has nothing at the field's path: the field is then null in every record.
func (s *Schema) Fits(f event.Field) (there bool, err error) {
	found := s.root.at(f.Keys(), nil)
	if len(found) == 0 {
		return false, nil
	}
	var one *typ
	for _, t := range found {
		if t.takenBy(f) {
			return true, nil
		}
		if one == nil || one.kind == null {
			one = t
		}
	}
	return true, &Misfit{Found: fmt.Sprintf("it is %s in the schema, but declared %s", one, f.Type), Fix: "declare it " + one.declared(),
		null: one.kind == null}
}

// Breaks returns the first field that records of the schema cannot be read into: its type differs in all of them, or it is needed and in
// none of them. It returns nil if there is no such field.
func (s *Schema) Breaks(fields []event.Declared) *event.Breaking {
	for i := range fields {
		f := &fields[i]
		there, err := s.Fits(f.Field)
		within := len(f.Within) == 0 || len(s.root.at(f.Within, nil)) > 0
		unfit, _ := err.(*Misfit) //nolint:errorlint // Fits returns no other type
		switch {
		case unfit != nil && !unfit.null:
			return &event.Breaking{Field: f.Where(), Detail: unfit.Found}
		case f.Needed && within && (!there || unfit != nil):
			return &event.Breaking{Field: f.Where(), Detail: "the schema has nothing there, but every record needs it"}
		}
	}
	return nil
}

// at appends the types of the values at a path.
func (t *typ) at(keys []string, found []*typ) []*typ {
	if t.kind == union {
		for _, b := range t.branches {
			found = b.at(keys, found)
		}
		return found
	}
	if len(keys) == 0 {
		if !slices.Contains(found, t) {
			found = append(found, t)
		}
		return found
	}
	switch t.kind {
	case record:
		if i := t.find(keys[0]); i >= 0 {
			return t.fields[i].typ.at(keys[1:], found)
		}
	case mapping:
		return t.items.at(keys[1:], found)
	case array:
		if _, ok := itemOf(keys[0]); ok {
			return t.items.at(keys[1:], found)
		}
	}
	return found
}

// takenBy reports whether a field can hold values of the type.
func (t *typ) takenBy(f event.Field) bool {
	number := t.kind == integer || t.kind == long
	if f.Convert.FromText && t.kind == text {
		return true
	}
	switch f.Type {
	case event.Nested:
		return true
	case event.Text:
		if number || t.kind == float || t.kind == double || t.isDecimal() {
			return f.Numbers
		}
		return t.kind == text || t.kind == enum || t.kind == bytes || t.kind == fixed
	case event.Int:
		return number || t.logical == decimal && t.scale == 0
	case event.Float:
		return number || t.kind == float || t.kind == double || t.isDecimal()
	case event.Bool:
		return t.kind == boolean
	case event.Time:
		return t.kind == text || number && t.logical != timeOfDay
	case event.TimeMS, event.TimeS:
		return number && t.logical != timeOfDay
	case event.Date, event.TimeUS, event.TimeNS:
		return t.kind == text || number && t.logical != timeOfDay
	case event.Decimal:
		return number || t.kind == float || t.kind == double || t.isDecimal() || t.kind == text
	case event.Bytes:
		return t.kind == text || (t.kind == bytes || t.kind == fixed) && t.logical == plain
	}
	return true
}

// declared returns the field type that fits a type best.
func (t *typ) declared() string {
	switch {
	case t.isDecimal():
		return event.Decimal.String()
	case t.logical.unit() != 0:
		return t.time().String()
	}
	switch t.kind {
	case integer, long:
		return event.Int.String()
	case float, double:
		return event.Float.String()
	case boolean:
		return event.Bool.String()
	case text, enum:
		return event.Text.String()
	case bytes, fixed:
		return "text if the bytes are UTF-8, else bytes"
	}
	return event.Nested.String()
}

// time returns the field type that fits a logical time type best: one that keeps all of it.
func (t *typ) time() event.Type {
	switch t.logical {
	case days:
		return event.Date
	case microseconds:
		return event.TimeUS
	case nanoseconds:
		return event.TimeNS
	}
	return event.TimeMS
}

var kindNames = [...]string{null: "null", boolean: "boolean", integer: "int", long: "long", float: "float", double: "double",
	bytes: "bytes", text: "string", record: "record", enum: "enum", array: "array", mapping: "map", fixed: "fixed", union: "union"}

// String names the type as Avro does, with its logical type.
func (t *typ) String() string {
	name := kindNames[t.kind]
	if t.name != "" {
		name += " " + t.name
	}
	switch t.logical {
	case decimal, variable:
		name += " (decimal)"
	case uuid:
		name += " (uuid)"
	case timeOfDay:
		name += " (time of day)"
	case days:
		name += " (date)"
	case milliseconds:
		name += " (timestamp in ms)"
	case microseconds:
		name += " (timestamp in µs)"
	case nanoseconds:
		name += " (timestamp in ns)"
	}
	return name
}

// deepest is the most keys in a path of Fields.
const deepest = 4

// Fields returns the fields of the schema's records with the types that fit best, or none if it is not a record. What holds many values is
// json.
func (s *Schema) Fields() []event.Field { return s.root.only().leaves(nil, nil) }

// only returns the one type that a union has besides null; a union of several is returned as it is.
func (t *typ) only() *typ {
	if t.kind != union {
		return t
	}
	var one *typ
	for _, b := range t.branches {
		switch {
		case b.kind == null:
		case one != nil:
			return t
		default:
			one = b
		}
	}
	if one == nil {
		return t
	}
	return one
}

func (t *typ) leaves(path []string, out []event.Field) []event.Field {
	if t.kind != record || t.logical == variable || len(path) == deepest {
		if len(path) == 0 {
			return out
		}
		f := event.Field{Path: path, Type: event.Nested}
		return append(out, t.asDeclared(f))
	}
	for i := range t.fields {
		f := &t.fields[i]
		out = f.typ.only().leaves(append(path[:len(path):len(path)], f.name), out)
	}
	return out
}

// asDeclared declares a field of the type.
func (t *typ) asDeclared(f event.Field) event.Field {
	switch {
	case t.isDecimal():
		f.Type = event.Decimal
	case t.logical.unit() != 0:
		f.Type = t.time()
	case t.kind == integer, t.kind == long:
		f.Type = event.Int
	case t.kind == float, t.kind == double:
		f.Type = event.Float
	case t.kind == boolean:
		f.Type = event.Bool
	case t.kind == text, t.kind == enum, t.logical == uuid:
		f.Type = event.Text
	case t.kind == bytes, t.kind == fixed:
		f.Type = event.Bytes
	}
	return f
}
