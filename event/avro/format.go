package avro

import (
	"slices"

	"brine/event"
)

// Bare returns the format of records that all have one schema and do not name it.
func Bare(s *Schema) event.Format { return bare{s} }

type bare struct{ schema *Schema }

// NewReader implements event.Format.
func (f bare) NewReader(root *event.Node) event.Reader {
	return &bareReader{plan: planRoot(f.schema, root)}
}

type bareReader struct {
	run
	plan rootPlan
}

// Own implements event.Recognizer.
func (r *bareReader) Own(rec *event.Record) event.LeftOut { return r.own(&r.plan, rec.Value) }

// Read implements event.Reader.
func (r *bareReader) Read(rec *event.Record, b *event.Builder) *event.Error {
	return r.value(&r.plan, rec.Value, b)
}

// rootPlan is the plan of whole records.
type rootPlan struct {
	step
	own event.LeftOut // why all of them are left out; empty: they are not
}

// planRoot makes the plan of whole records. What does not consist of fields cannot be an event, but a key can be a single value.
func planRoot(s *Schema, root *event.Node) rootPlan {
	top := rootPlan{step: plan(s.root, root), own: root.OwnRecord(s.Shape())}
	if root.Type() != 0 {
		return top
	}
	if top.do == absent {
		top.do, top.found = refuse, "null"
	}
	for i := range top.steps {
		if b := &top.steps[i]; top.do == ofUnion && b.do == absent {
			b.do, b.found = refuse, "null"
		}
	}
	return top
}

// Shape returns what records of the schema look like from outside.
func (s *Schema) Shape() event.Shape {
	out := event.Shape{Name: s.root.name, Members: map[string]bool{}}
	for i := range s.root.fields {
		f := &s.root.fields[i]
		out.Members[f.name] = f.typ.mayBeObjects()
	}
	return out
}

// mayBeObjects reports whether a value may be an object, or a list of objects.
func (t *typ) mayBeObjects() bool {
	switch t.kind {
	case record, mapping:
		return true
	case array:
		return t.items.kind == record
	}
	return slices.ContainsFunc(t.branches, (*typ).mayBeObjects)
}
