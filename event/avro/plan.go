package avro

import (
	"slices"
	"strconv"

	"brine/event"
)

// step is how one value of the writer's schema is read.
type step struct {
	do    action
	typ   *typ
	node  *event.Node // where it goes; nil: nowhere
	found string      // of refuse: the kind of value found, for people
	steps []step      // for a record's fields, a union's branches, or the requested parts of an array or a map
	at    []int       // of an array: the requested positions, ascending
	rest  [][]byte    // of a record: the names of undeclared fields
}

type action uint8

const (
	pass  action = iota // skipped
	aText               // passed to a field, like the following
	anInt
	aLong
	aTime // an int or a long
	aFloat
	aDouble
	aBool
	anEnum
	aClock    // a time of day: an int or a long
	aBinary   // bytes or a fixed, or their logical type
	render    // passed to a field as JSON
	absent    // null
	ofRecord  // its fields
	ofUnion   // its branch
	ofMapping // its values by key
	ofArray   // its items by position
	refuse    // of a kind that the node cannot hold
)

// plan makes the step that reads values of t for a node. Its depth is that of the declared paths.
func plan(t *typ, n *event.Node) step {
	s := step{typ: t, node: n}
	switch {
	case n == nil:
	case t.kind == null:
		s.do = absent
	case t.kind == union:
		s.do = ofUnion
		for _, b := range t.branches {
			s.steps = append(s.steps, plan(b, n))
		}
	case n.Type() == event.Nested:
		s.do = render
	case n.Type() != 0 && !t.compound():
		s.do = t.scalar()
	case n.Type() != 0:
		s.refuse()
	default:
		s.within()
	}
	return s
}

// scalar returns the action for values that go to a field.
func (t *typ) scalar() action {
	switch t.kind {
	case text:
		return aText
	case integer, long:
		switch {
		case t.logical == timeOfDay:
			return aClock
		case t.logical != plain:
			return aTime
		case t.kind == integer:
			return anInt
		}
		return aLong
	case float:
		return aFloat
	case double:
		return aDouble
	case boolean:
		return aBool
	case enum:
		return anEnum
	}
	return aBinary
}

// compound reports whether values of the type fit no field except json.
func (t *typ) compound() bool {
	return t.kind == record && t.logical != variable || t.kind == array || t.kind == mapping
}

func (s *step) refuse() { s.do, s.found = refuse, found[s.typ.kind] }

var found = [...]string{boolean: "a bool", integer: "a number", long: "a number", float: "a number", double: "a number", bytes: "bytes",
	text: "a string", record: "an object", enum: "a string", array: "an array", mapping: "an object", fixed: "bytes"}

// within plans for a node on the way to fields.
func (s *step) within() {
	switch t := s.typ; t.kind {
	case record:
		s.do = ofRecord
		for i := range t.fields {
			s.steps = append(s.steps, plan(t.fields[i].typ, nil))
		}
		for _, child := range s.node.Children() {
			if i := t.find(child.Key()); i >= 0 && s.steps[i].node == nil {
				s.steps[i] = plan(t.fields[i].typ, child)
			}
		}
		for i := range s.steps {
			if s.steps[i].node == nil {
				s.rest = append(s.rest, []byte(t.fields[i].name))
			}
		}
	case mapping:
		s.do = ofMapping
		for _, child := range s.node.Children() {
			s.steps = append(s.steps, plan(t.items, child))
		}
	case array:
		s.do = ofArray
		for _, child := range s.positions() {
			s.steps = append(s.steps, plan(t.items, child.node))
			s.at = append(s.at, child.at)
		}
		if len(s.at) == 0 {
			s.refuse()
		}
	default:
		if s.refuse(); t.kind == text && s.node.MayLack(1) {
			s.do = aText // the node refuses others
		}
	}
}

// find returns the position of a field by its name, or else by one of its aliases; -1 if there is none.
func (t *typ) find(name string) int {
	if i := slices.IndexFunc(t.fields, func(f field) bool { return f.name == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(t.fields, func(f field) bool { return slices.Contains(f.aliases, name) })
}

type position struct {
	at   int
	node *event.Node
}

// positions returns the items of an array that the node's keys ask for, counted from 0.
func (s *step) positions() (out []position) {
	for _, child := range s.node.Children() {
		if i, ok := itemOf(child.Key()); ok {
			out = append(out, position{i, child})
		}
	}
	slices.SortFunc(out, func(a, b position) int { return a.at - b.at })
	return out
}

// itemOf parses a key as the position of an item.
func itemOf(key string) (int, bool) {
	i, err := strconv.ParseUint(key, 10, 31)
	return int(i), err == nil && strconv.FormatUint(i, 10) == key
}
