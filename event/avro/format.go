package avro

import "brine/event"

// Bare returns the format of records that all have one schema and do not name it.
func Bare(s *Schema) event.Format { return bare{s} }

type bare struct{ schema *Schema }

// NewReader implements event.Format.
func (f bare) NewReader(root *event.Node) event.Reader {
	return &bareReader{plan: planRoot(f.schema, root)}
}

type bareReader struct {
	run
	plan step
}

// Read implements event.Reader.
func (r *bareReader) Read(rec *event.Record, b *event.Builder) *event.Error {
	return r.value(&r.plan, rec.Value, b)
}

// planRoot makes the plan of whole records. What does not consist of fields cannot be an event, but a key can be a single value.
func planRoot(s *Schema, root *event.Node) step {
	top := plan(s.root, root)
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
