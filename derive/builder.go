package derive

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"

	"brine/event"
)

// Builder compiles the expressions of a pipeline in the order in which they are written.
type Builder struct {
	env    *cel.Env
	fields []event.Field // the record's, followed by the derived ones
	broken error         // why there is no env
	wrong  []string      // names of lets with a faulty expression
	later  []string      // names announced and not added yet
	rules  Rules
}

// New returns a builder with the fields of the record, whose names and types must be valid.
func New(fields []event.Field) *Builder {
	b := &Builder{fields: slices.Clone(fields)}
	b.env, b.broken = language()
	for _, f := range fields {
		b.declare(f)
	}
	b.rules.record = len(fields)
	return b
}

// declare makes a field known to later expressions.
func (b *Builder) declare(f event.Field) {
	if b.broken == nil && unnamed(f) == "" {
		b.env, b.broken = b.env.Extend(cel.Variable(f.Name, variables[f.Type.Stored()]))
	}
}

func (b *Builder) position(name string) int {
	return slices.IndexFunc(b.fields, func(f event.Field) bool { return f.Name == name })
}

// Announce names the fields that calls of Let will add, so that the fault of an expression that comes too early says so.
func (b *Builder) Announce(names ...string) { b.later = append(b.later, names...) }

// Let adds a field of this type, or, if it is 0, of the type that the expression has. Later expressions may name the field. Let returns the
// type, or a *Fault. After a fault, other expressions can still be checked, but Rules must not be called.
func (b *Builder) Let(name string, typ event.Type, setting, text string) (event.Type, error) {
	b.later = slices.DeleteFunc(b.later, func(later string) bool { return later == name })
	if b.position(name) >= 0 {
		return 0, &Fault{Text: "field " + name + " is declared already; choose another name"}
	}
	e, err := b.try(setting, text)
	switch {
	case err != nil:
		b.distrust(name)
		return 0, err
	case typ == 0:
		typ = e.typ
	case typ.Stored() != e.typ:
		b.distrust(name)
		return 0, &Fault{Text: fmt.Sprintf("its result is %s, but %s is declared %s", article(e.typ), name, typ)}
	}
	b.add(event.Field{Name: name, Type: typ.Stored(), Made: true}, e)
	b.declare(b.fields[len(b.fields)-1])
	return e.typ, nil
}

// distrust lets expressions name a field of unknown type.
func (b *Builder) distrust(name string) {
	b.wrong = append(b.wrong, name)
	if b.broken == nil {
		b.env, b.broken = b.env.Extend(cel.Variable(name, cel.DynType))
	}
}

// Condition adds a bool field that is never null, which decides about one destination of an event: see event.Event.Holds. If it has no
// answer, only that destination does not get the event, and the field is a text with the reason. No expression can name it.
func (b *Builder) Condition(name, setting, text string) error {
	e, err := b.question(setting, text)
	if err != nil {
		return err
	}
	e.question, e.local = true, true
	b.add(event.Field{Name: name, Type: event.Bool, Made: true}, e)
	return nil
}

// Fix adds the value to which a field of this name and type is fixed: see event.Fix. No expression can name the result.
func (b *Builder) Fix(name string, typ event.Type, setting, text string) error {
	e, err := b.try(setting, text)
	if err != nil {
		return err
	}
	if e.typ == event.TimeMS && !typ.TakesTimes() {
		return &Fault{Text: fmt.Sprintf("its result is a time, but %s is declared %s; make it a text with string(…), or a number with ms(…)",
			name, typ)}
	}
	b.add(event.Field{Name: name + " fixed", Type: e.typ, Made: true}, e)
	return nil
}

// When sets which events are kept. It may name every derived field, whether added before or after it.
func (b *Builder) When(setting, text string) error {
	e, err := b.question(setting, text)
	if err != nil {
		return err
	}
	e.question = true
	b.rules.when = &e
	return nil
}

func (b *Builder) add(f event.Field, e expression) {
	b.fields = append(b.fields, f)
	b.rules.lets = append(b.rules.lets, e)
}

// question compiles an expression that is true or false.
func (b *Builder) question(setting, text string) (expression, error) {
	e, err := b.try(setting, text)
	if err == nil && e.typ != event.Bool {
		err = &Fault{Text: fmt.Sprintf("its result is %s, but must be true or false", article(e.typ))}
	}
	return e, err
}

func (b *Builder) try(setting, text string) (expression, error) {
	if b.broken != nil {
		return expression{}, &Fault{Text: plain(b.broken.Error())}
	}
	if strings.TrimSpace(text) == "" {
		return expression{}, &Fault{Text: "it is empty"}
	}
	e, fault := b.compile(setting, text)
	if fault != nil {
		return expression{}, fault
	}
	return e, nil
}

// explain adds to a fault why a field that exists cannot be named.
func (b *Builder) explain(f *Fault) *Fault {
	if name, ok := strings.CutPrefix(f.Text, "there is no field and no function "); ok {
		if i := b.position(name); i >= 0 {
			f.Text = "field " + name + " " + unnamed(b.fields[i])
		} else if slices.Contains(b.later, name) {
			f.Text = name + " is the result of a later expression; put that one before this"
		}
	}
	return f
}

// Fields returns the fields of the record, followed by the derived ones: the fields of a schema.
func (b *Builder) Fields() []event.Field { return slices.Clone(b.fields) }

// Rules returns what was compiled so far.
func (b *Builder) Rules() *Rules {
	r := b.rules
	r.fields = b.Fields()
	r.plan()
	return &r
}

func article(t event.Type) string {
	switch t {
	case event.Int:
		return "an int"
	case event.TimeMS:
		return "a time"
	default:
		return "a " + t.String()
	}
}
