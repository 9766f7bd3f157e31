package derive

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"brine/event"
)

// Evaluator applies rules to events. It belongs to one goroutine.
type Evaluator struct {
	rules *Rules
	boxes [][]box // the fields that it names, by let, with those of when last
	scope scope
	frame *interpreter.ExecutionFrame // over the scope
	part  []int                       // lets that the current event has the fields for

	unknown []bool // fields of the current event
}

// Evaluator returns a new evaluator.
func (r *Rules) Evaluator() event.Evaluator { return r.evaluator() }

func (r *Rules) evaluator() *Evaluator {
	e := &Evaluator{rules: r, boxes: make([][]box, len(r.lets)+1)}
	for i := range e.boxes {
		x := r.when
		if i < len(r.lets) {
			x = &r.lets[i]
		}
		if x == nil {
			continue
		}
		e.boxes[i] = make([]box, len(x.names))
		for n, field := range x.names {
			e.boxes[i][n].open(r.fields[field].Name, field)
		}
	}
	frame, err := interpreter.NewExecutionFrame(&e.scope)
	if err != nil {
		panic("BUG: derive: " + err.Error())
	}
	e.frame = frame
	return e
}

// Derive fills the derived fields, which follow those of the record, and reports whether the event is kept. If it is not, fields that were
// not needed to decide stay null.
func (e *Evaluator) Derive(values []event.Value) (keep bool, err *event.Error) {
	r := e.rules
	if err := e.make(r.before, values); err != nil {
		return false, err
	}
	if r.when != nil {
		kept, err := e.eval(len(r.lets), r.when, values)
		if err != nil || !kept.Bool() {
			return false, err
		}
	}
	return true, e.make(r.after, values)
}

// DeriveDelete implements event.Evaluator.
func (e *Evaluator) DeriveDelete(values []event.Value, holds []bool) (keep bool, err *event.Error) {
	r := e.rules
	e.unknown = e.unknown[:0]
	for field := range r.fields {
		e.unknown = append(e.unknown, field < r.record && !holds[field])
	}
	return e.deriveKnown(values, false)
}

// DeriveFormer implements event.Evaluator.
func (e *Evaluator) DeriveFormer(values []event.Value) (kept bool) {
	e.unknown = append(e.unknown[:0], make([]bool, len(e.rules.fields))...)
	kept, _ = e.deriveKnown(values, true)
	return kept
}

// deriveKnown is Derive for an event of which some fields are unknown. If former, what has no result is unknown, too, and no error.
func (e *Evaluator) deriveKnown(values []event.Value, former bool) (keep bool, err *event.Error) {
	r := e.rules
	if err := e.makeKnown(r.before, values, former); err != nil {
		return false, err
	}
	if r.when != nil {
		kept, known, err := e.evalKnown(len(r.lets), r.when, values, former)
		if err != nil || known && !kept.Bool() {
			return false, err
		}
	}
	return true, e.makeKnown(r.after, values, former)
}

// makeKnown is make for an event of which some fields are unknown. So are results that depend on these.
func (e *Evaluator) makeKnown(lets []int, values []event.Value, former bool) *event.Error {
	for _, i := range lets {
		x, field := &e.rules.lets[i], e.rules.record+i
		v, known, err := e.evalKnown(i, x, values, former)
		switch {
		case err != nil && x.local:
			v = withoutResult(err)
		case err != nil:
			return err
		}
		values[field], e.unknown[field] = v, !known
	}
	return nil
}

// evalKnown is eval for an event of which some fields are unknown. known is false, and the result null, if the result depends on one of
// these: false && unknown is false. See deriveKnown for former.
func (e *Evaluator) evalKnown(i int, x *expression, values []event.Value, former bool) (v event.Value, known bool, err *event.Error) {
	if !slices.ContainsFunc(x.names, func(field int) bool { return e.unknown[field] }) {
		if v, err = e.eval(i, x, values); err != nil && former {
			return event.Value{}, false, nil
		}
		return v, true, err
	}
	e.scope.values, e.scope.boxes, e.scope.unknown = values, e.boxes[i], e.unknown
	out, _, wrong := x.program.Eval(e.frame)
	e.scope.unknown = nil
	if wrong != nil {
		return event.Value{}, false, nil //nolint:nilerr // it may come of what is unknown
	}
	v, fault := unbox(out) // what CEL does not know is no value either
	if fault != "" || x.question && v.Null() {
		return event.Value{}, false, nil
	}
	return v, true, nil
}

// DeriveUpdate implements event.Evaluator.
func (e *Evaluator) DeriveUpdate(values []event.Value, unsent, lasting []bool) (keep bool, err *event.Error) {
	r := e.rules
	e.part = e.part[:0]
	for _, i := range r.before { // when depends on these, and so on what they lack
		if r.unsent(i, unsent) < 0 {
			e.part = append(e.part, i)
		}
	}
	if err := e.make(e.part, values); err != nil {
		return false, err
	}
	if r.when != nil {
		if lacked := r.unsent(len(r.lets), unsent); lacked >= 0 {
			return false, r.unknown(r.when, lacked, -1)
		}
		kept, err := e.eval(len(r.lets), r.when, values)
		if err != nil || !kept.Bool() {
			return false, err
		}
	}
	e.part = e.part[:0]
	for _, i := range r.after {
		lacked := r.unsent(i, unsent)
		if lacked < 0 {
			e.part = append(e.part, i)
			continue
		}
		x := &r.lets[i]
		changing := slices.IndexFunc(r.reads[i], func(field int) bool { return !unsent[field] && !lasting[field] })
		switch {
		case x.local:
			values[r.record+i] = withoutResult(r.unknown(x, lacked, -1))
		case changing >= 0:
			return false, r.unknown(x, lacked, r.reads[i][changing])
		default:
			values[r.record+i] = event.Unsent()
		}
	}
	return true, e.make(e.part, values)
}

// unsent returns a field that expression number i depends on and that was not sent; -1: there is none.
func (r *Rules) unsent(i int, unsent []bool) int {
	if at := slices.IndexFunc(r.reads[i], func(field int) bool { return unsent[field] }); at >= 0 {
		return r.reads[i][at]
	}
	return -1
}

// unknown returns the error of an expression on a field that was not sent; changing is another that may have changed, or -1.
func (r *Rules) unknown(x *expression, lacked, changing int) *event.Error {
	detail := "the database did not send " + r.fields[lacked].Name + " because it has not changed, so there is no result"
	if changing >= 0 {
		detail += ", and " + r.fields[changing].Name + " may have changed"
	}
	return (&event.Error{Reason: event.BadExpression, Field: x.setting,
		Detail: detail + "; make it log whole rows (in Postgres REPLICA IDENTITY FULL)"}).Short()
}

// withoutResult returns the value of a condition without a result; see event.Event.Holds.
func withoutResult(err *event.Error) event.Value {
	return event.TextValue(err.Field + ": " + err.Detail)
}

func (e *Evaluator) make(lets []int, values []event.Value) *event.Error {
	for _, i := range lets {
		x := &e.rules.lets[i]
		v, err := e.eval(i, x, values)
		switch {
		case err != nil && x.local:
			v = withoutResult(err)
		case err != nil:
			return err
		}
		values[e.rules.record+i] = v
	}
	return nil
}

// eval returns the result of x, which is expression number i.
func (e *Evaluator) eval(i int, x *expression, values []event.Value) (event.Value, *event.Error) {
	if x.direct != nil {
		if v, ok := x.direct.answer(values); ok && (!x.question || !v.Null()) {
			return v, nil
		}
	}
	e.scope.values, e.scope.boxes = values, e.boxes[i]
	out, _, err := x.program.Eval(e.frame)
	if err != nil {
		return event.Value{}, e.failed(x, err.Error())
	}
	v, fault := unbox(out)
	if fault == "" && x.question && v.Null() {
		fault = "it is not true or false"
	}
	if fault != "" {
		return event.Value{}, e.failed(x, fault)
	}
	return v, nil
}

// failed returns the error of an expression without a result.
func (e *Evaluator) failed(x *expression, fault string) *event.Error {
	fault = plain(fault)
	var null []string
	for _, f := range x.names {
		if e.scope.values[f].Null() {
			null = append(null, e.rules.fields[f].Name)
		}
	}
	if len(null) > 0 {
		fault += fmt.Sprintf("; %s null or absent: check %s == null first", isOrAre(null), null[0])
	}
	return (&event.Error{Reason: event.BadExpression, Field: x.setting, Detail: fault}).Short()
}

func isOrAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// unbox converts a result to a value; fault is the reason why it cannot be one. A text aliases the event's memory or its own.
func unbox(v ref.Val) (out event.Value, fault string) {
	switch v := v.(type) {
	case types.Bool:
		return event.BoolValue(bool(v)), ""
	case types.String:
		return event.TextOf(unsafe.Slice(unsafe.StringData(string(v)), len(v))), ""
	case types.Int:
		return event.IntValue(int64(v)), ""
	case types.Double:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return out, fmt.Sprintf("%v is not a number that a store can hold", f)
		}
		return event.FloatValue(float64(v)), ""
	case types.Timestamp:
		return event.TimeValue(v.UnixMilli()), ""
	case types.Null:
		return out, ""
	}
	return out, fmt.Sprintf("its result is a %T", v)
}

// scope is the Activation of one evaluation: the boxes of the fields that the expression names.
type scope struct {
	values  []event.Value
	boxes   []box
	unknown []bool // by field; nil: none is
}

// unknown is what CEL takes for a field that is not known.
var unknown = types.NewUnknown(1, nil)

func (s *scope) ResolveName(name string) (any, bool) {
	for i := range s.boxes {
		if b := &s.boxes[i]; b.name == name {
			if s.unknown != nil && s.unknown[b.field] {
				return unknown, true
			}
			return b.fill(s.values[b.field]), true
		}
	}
	return nil, false
}

func (s *scope) Parent() interpreter.Activation { return nil }
