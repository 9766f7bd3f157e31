package protobuf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"brine/event"
)

// Misfit is a declared field that no record of the message can fill.
type Misfit struct {
	Field int // position in the fields
	Msg   string
	Fix   string
	// Key is the part of the field's path that the message does not have, and Names are those that it has there; otherwise they are empty.
	Key   string
	Names []string
}

// Check finds the fields that the message does not have, or has in a form that they never accept.
func (m *Message) Check(fields []event.Field) (out []Misfit) {
	seen := map[string]int{}
	for i, f := range fields {
		names, unfit := follow(m.desc, f)
		if unfit != nil {
			unfit.Field = i
			out = append(out, *unfit)
			continue
		}
		if other, ok := seen[names]; ok {
			out = append(out, Misfit{Field: i, Msg: fmt.Sprintf("is %s of the message, as field %s is", names, fields[other].Name),
				Fix: "keep one: a field can be used in several places"})
			continue
		}
		seen[names] = i
	}
	return out
}

// Breaks returns the first field that messages cannot be read into: its type differs in all of them, or it is needed and in none of them.
// It returns nil if there is no such field.
func (m *Message) Breaks(fields []event.Declared) *event.Breaking {
	for i := range fields {
		f := &fields[i]
		_, unfit := follow(m.desc, f.Field)
		switch {
		case unfit == nil:
		case unfit.Key == "":
			return &event.Breaking{Field: f.Where(), Detail: "the field " + unfit.Msg}
		case f.Needed && (len(f.Within) == 0 || has(m.desc, f.Within)):
			return &event.Breaking{Field: f.Where(), Detail: "the field " + unfit.Msg + ", but every record needs it"}
		}
	}
	return nil
}

// has reports whether a message has a field at a path.
func has(md protoreflect.MessageDescriptor, path []string) bool {
	_, unfit := follow(md, event.Field{Path: path, Type: event.Nested})
	return unfit == nil
}

// follow follows a field's path through the message. names is the path in the schema's names.
func follow(md protoreflect.MessageDescriptor, f event.Field) (names string, unfit *Misfit) {
	var fd protoreflect.FieldDescriptor
	at, part := md, false // part: fd stands for an element of a list, or a value of a map
	for _, key := range f.Keys() {
		switch {
		case fd != nil && !part && fd.IsMap():
			if !parseKey(fd.MapKey().Kind(), key).ok {
				return "", &Misfit{Msg: fmt.Sprintf("has a path with key %s, but the keys of map %s are %s", quote(key), names, fd.MapKey().Kind()),
					Fix: "fix the path"}
			}
			fd, part = fd.MapValue(), true
		case fd != nil && !part && fd.IsList():
			if _, err := strconv.ParseUint(key, 10, 31); err != nil {
				return "", &Misfit{Msg: fmt.Sprintf("has a path through %s, but %s of the message is repeated", quote(key), names),
					Fix: fmt.Sprintf("write %s.0 for the first element, or declare a field json with path: %s", names, names)}
			}
			part = true
		case at == nil:
			return "", &Misfit{Msg: fmt.Sprintf("is inside %s of the message, which is %s", names, kindOf(fd, part)), Fix: "fix the path"}
		default:
			next := lookUp(at, key)
			if next == nil {
				return "", &Misfit{Msg: fmt.Sprintf("is not in the schema: message %s has no %s", at.FullName(), quote(key)),
					Fix: "its fields are " + some(fieldNames(at)), Key: key, Names: fieldNames(at)}
			}
			key, fd, part = string(next.Name()), next, false
		}
		at = fd.Message()
		names = strings.TrimPrefix(names+"."+key, ".")
	}
	if what, fix := misfit(fd, part, f, names); what != "" {
		return "", &Misfit{Msg: what, Fix: fix}
	}
	return names, nil
}

// some returns the first names of a list, for people.
func some(names []string) string {
	const most = 12
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// misfit returns why a field of the message never fits the declared one; empty if it may.
func misfit(fd protoreflect.FieldDescriptor, part bool, f event.Field, names string) (what, fix string) {
	if f.Type == event.Nested {
		return "", ""
	}
	takes := takers(fd, part, f)
	if slices.Contains(takes, f.Type) {
		return "", ""
	}
	what = fmt.Sprintf("is declared %s, but %s of the message is %s", f.Type, names, kindOf(fd, part))
	many := !part && fd.Cardinality() == protoreflect.Repeated
	switch {
	case many && fd.IsMap():
		return what, "write the path of one of its values, as " + names + ".KEY, or declare it json"
	case many:
		return what, "write the path of an element, as " + names + ".0, or declare it json"
	case fd.Message() != nil && len(takes) == 0:
		return what, "write the path of one of its fields, or declare it json"
	}
	var types []string
	for _, t := range append(takes, event.Nested) {
		types = append(types, t.String())
	}
	if f.Type == event.Text && slices.Contains(takes, event.Float) {
		types = append(types, "{ type: text, from: number }")
	}
	last := len(types) - 1
	return what, "declare it " + strings.Join(types[:last], ", ") + " or " + types[last]
}

var times = []event.Type{event.TimeMS, event.TimeS, event.Time, event.TimeUS, event.TimeNS, event.Date}

// takers returns the types that may accept what the field holds, besides json.
func takers(fd protoreflect.FieldDescriptor, part bool, f event.Field) []event.Type {
	if !part && fd.Cardinality() == protoreflect.Repeated {
		return nil
	}
	kind := fd.Kind()
	switch wellKnownType(fd.Message()) {
	case timestamp, date:
		return append(slices.Clone(times), event.Text)
	case duration:
		return []event.Type{event.Float, event.Text}
	case decimal:
		return withText([]event.Type{event.Decimal, event.Float}, f)
	case wrapper:
		kind = fd.Message().Fields().ByNumber(1).Kind()
	}
	var takes []event.Type
	switch kind {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return nil
	case protoreflect.BoolKind:
		return []event.Type{event.Bool}
	case protoreflect.StringKind:
		return []event.Type{event.Text, event.Time, event.TimeUS, event.TimeNS, event.Date, event.Decimal, event.Bytes}
	case protoreflect.BytesKind:
		return []event.Type{event.Text, event.Bytes}
	case protoreflect.EnumKind:
		return []event.Type{event.Text, event.Int}
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		takes = []event.Type{event.Float, event.Time, event.Decimal}
	default:
		takes = append([]event.Type{event.Int, event.Float, event.Decimal}, times...)
	}
	return withText(takes, f)
}

// withText adds text to types that accept a number if the field takes numbers as texts.
func withText(takes []event.Type, f event.Field) []event.Type {
	if f.Numbers {
		return append(takes, event.Text)
	}
	return takes
}

// kindOf returns the schema's name for the kind of a field.
func kindOf(fd protoreflect.FieldDescriptor, part bool) string {
	kind := fd.Kind().String()
	if fd.Message() != nil {
		kind = string(fd.Message().FullName())
	} else if fd.Enum() != nil {
		kind = "enum " + string(fd.Enum().FullName())
	}
	switch {
	case part:
	case fd.IsMap():
		return fmt.Sprintf("map<%s, %s>", fd.MapKey().Kind(), kindOf(fd.MapValue(), true))
	case fd.IsList():
		return "repeated " + kind
	}
	return kind
}

// fieldNames returns the names of a message's fields.
func fieldNames(md protoreflect.MessageDescriptor) (names []string) {
	for i := range md.Fields().Len() {
		names = append(names, string(md.Fields().Get(i).Name()))
	}
	return names
}

func quote(s string) string { return event.Quoted([]byte(s)) }

// deepest is the most keys in a path of Fields.
const deepest = 4

// Fields returns the fields of the message with the types that fit best. What holds many values is json.
func (m *Message) Fields() []event.Field { return leaves(m.desc, nil, nil) }

func leaves(md protoreflect.MessageDescriptor, path []string, out []event.Field) []event.Field {
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		at := append(path[:len(path):len(path)], string(fd.Name()))
		if !fd.IsList() && !fd.IsMap() && fd.Message() != nil && wellKnownType(fd.Message()) == 0 && len(at) < deepest {
			out = leaves(fd.Message(), at, out)
			continue
		}
		out = append(out, event.Field{Path: at, Type: declared(fd)})
	}
	return out
}

// declared returns the type that fits a field best.
func declared(fd protoreflect.FieldDescriptor) event.Type {
	kind := fd.Kind()
	switch {
	case fd.IsList() || fd.IsMap():
		return event.Nested
	case fd.Message() != nil:
		switch wellKnownType(fd.Message()) {
		case timestamp:
			return event.TimeMS
		case date:
			return event.Date
		case duration:
			return event.Float
		case decimal:
			return event.Decimal
		case wrapper:
			kind = fd.Message().Fields().ByNumber(1).Kind()
		default:
			return event.Nested
		}
	}
	switch kind {
	case protoreflect.StringKind, protoreflect.EnumKind:
		return event.Text
	case protoreflect.BoolKind:
		return event.Bool
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return event.Float
	case protoreflect.BytesKind:
		return event.Bytes
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return event.Nested
	}
	return event.Int
}
