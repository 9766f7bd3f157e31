package derive

import (
	"bytes"
	"cmp"
	"math"

	"brine/event"
)

// Expressions of the usual forms are evaluated directly from an event's values, without CEL:
//
//	answer    = operand | operand + operand + … | condition | condition ? answer : answer
//	condition = condition && condition | condition || condition | !condition | a bool field | true | false
//	          | operand == operand, and != < <= > >= | operand in [constants]
//	          | operand.startsWith(operand), and endsWith, contains
//	operand   = a field | a constant
//
// The results are those of CEL. Everything else, above all a null where CEL needs a value, is left to CEL, which also reports errors.
// FuzzExpression checks that the two agree.

// answerer evaluates an expression; ok is false if CEL must evaluate it.
type answerer interface {
	answer(values []event.Value) (v event.Value, ok bool)
}

// condition is a condition on an event.
type condition interface {
	holds(values []event.Value) truth
}

// truth is the result of a condition.
type truth uint8

const (
	unsure truth = iota // CEL must evaluate it
	isFalse
	isTrue
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

// operand is a field or a constant. A null has type 0.
type operand struct {
	field int // position; of a constant: none
	typ   event.Type
	fixed event.Value
}

const constant = -1

// of returns the operand's value for an event, which may be null, or nil if CEL must evaluate it.
func (o *operand) of(values []event.Value) *event.Value {
	if o.field == constant {
		return &o.fixed
	}
	v := &values[o.field]
	if v.Type != o.typ && v.Type != 0 || v.Type == event.Text && len(v.Text()) > maxText {
		return nil
	}
	return v
}

func (o *operand) answer(values []event.Value) (v event.Value, ok bool) {
	p := o.of(values)
	if p == nil || p.Type == event.Float && !finite(p.Float()) {
		return v, false
	}
	return *p, true
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

func (o *operand) holds(values []event.Value) truth {
	v := o.of(values)
	if v == nil || v.Type != event.Bool {
		return unsure
	}
	return truthOf(v.Bool())
}

// joined concatenates several texts.
type joined []operand

func (j joined) answer(values []event.Value) (v event.Value, ok bool) {
	size := 0
	for i := range j {
		p := j[i].of(values)
		if p == nil || p.Type != event.Text {
			return v, false
		}
		size += len(p.Text())
	}
	text := make([]byte, 0, size)
	for i := range j {
		text = append(text, j[i].of(values).Text()...)
	}
	return event.TextOf(text), true
}

// either is one of two results.
type either struct {
	when            condition
	then, otherwise answerer
}

func (e *either) answer(values []event.Value) (v event.Value, ok bool) {
	switch e.when.holds(values) {
	case isTrue:
		return e.then.answer(values)
	case isFalse:
		return e.otherwise.answer(values)
	}
	return v, false
}

// asked returns the result of a condition.
type asked struct{ condition }

func (a asked) answer(values []event.Value) (v event.Value, ok bool) {
	t := a.holds(values)
	return event.BoolValue(t == isTrue), t != unsure
}

// all and any join conditions by && and ||. They stop at the first condition that CEL must evaluate, even if CEL would find that another
// one decides.
type all []condition

func (c all) holds(values []event.Value) truth {
	for _, one := range c {
		if t := one.holds(values); t != isTrue {
			return t
		}
	}
	return isTrue
}

type some []condition

func (c some) holds(values []event.Value) truth {
	for _, one := range c {
		if t := one.holds(values); t != isFalse {
			return t
		}
	}
	return isFalse
}

type not struct{ condition }

func (n not) holds(values []event.Value) truth {
	switch n.condition.holds(values) {
	case isTrue:
		return isFalse
	case isFalse:
		return isTrue
	}
	return unsure
}

// comparison compares two operands of one type.
type comparison struct {
	left, right operand
	wants       [3]bool // whether it holds if left is less, equal, greater
	ordered     bool    // it cannot compare nulls
}

func (c *comparison) holds(values []event.Value) truth {
	l, r := c.left.of(values), c.right.of(values)
	if l == nil || r == nil {
		return unsure
	}
	order := 0
	switch {
	case l.Null() || r.Null():
		if c.ordered {
			return unsure
		}
		if l.Type != r.Type {
			order = 1
		}
	case l.Type == event.Text:
		order = bytes.Compare(l.Text(), r.Text())
	case l.Type == event.Int:
		order = cmp.Compare(l.Int(), r.Int())
	case l.Type == event.Float:
		if math.IsNaN(l.Float()) || math.IsNaN(r.Float()) {
			return unsure
		}
		order = cmp.Compare(l.Float(), r.Float())
	case l.Type == event.Bool:
		order = cmp.Compare(l.Int(), r.Int())
	default:
		return unsure
	}
	return truthOf(c.wants[order+1])
}

// looking searches a text for another one.
type looking struct {
	text, part operand
	finds      func(text, part []byte) bool
}

func (l *looking) holds(values []event.Value) truth {
	text, part := l.text.of(values), l.part.of(values)
	if text == nil || part == nil || text.Type != event.Text || part.Type != event.Text {
		return unsure
	}
	return truthOf(l.finds(text.Text(), part.Text()))
}

// member reports whether a value is one of a few constants of its type.
type member struct {
	operand
	list []event.Value
}

func (m *member) holds(values []event.Value) truth {
	v := m.of(values)
	if v == nil || v.Null() {
		return unsure
	}
	for i := range m.list {
		if m.list[i].Equal(*v) {
			return isTrue
		}
	}
	return isFalse
}
