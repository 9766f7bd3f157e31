package contract

import (
	"slices"

	"brine/event"
)

// record describes one object of a record: a row, or the envelope of one.
func (t *Terms) record(root *tree) object {
	e, images := t.Schema.Envelope, t.Schema.Images
	switch {
	case e != nil && e.Unwrapped:
		return t.unwrapped(root)
	case e != nil && e.Form == event.Debezium:
		mark(root, images, func(n *tree) { n.column = true })
		return t.debezium(t.imaged(root))
	case e != nil:
		return t.logged(root, e.Form)
	case len(images.Before) > 0:
		return t.imaged(root)
	}
	return t.branch(root, true)
}

// mark calls f for the fields of a row's images.
func mark(root *tree, images event.Images, f func(*tree)) {
	root.at(images.After).each(func(n *tree) {
		if n.field != nil {
			f(n)
		}
	})
}

// unwrapped describes a row without an envelope; a delete may lack everything except its key.
func (t *Terms) unwrapped(root *tree) object {
	for _, n := range root.children {
		if len(n.key) > 2 && n.key[:2] == "__" {
			n.texts = true
		} else {
			n.column = true
		}
	}
	return t.branch(root, true)
}

// imaged describes a record that holds the row before a change and after it. A record without the latter is a delete, whose fields are
// those of the former.
func (t *Terms) imaged(root *tree) object {
	images := t.Schema.Images
	if len(images.After) == 0 {
		out := t.branch(root, true)
		return out.with("description", "The row before the change is in "+images.Before[0]+".")
	}
	after := root.at(images.After)
	row, optional := t.branch(after, true), t.branch(&tree{children: optionals(after)}, false)
	name, before := images.After[0], images.Before[0]
	if len(images.After) > 1 || len(images.Before) > 1 { // deep images are described only one by one
		return t.branch(&tree{children: optionals(root)}, true)
	}
	outer := &tree{children: slices.DeleteFunc(slices.Clone(root.children), func(n *tree) bool { return n == after })}
	out := t.branch(outer, true)
	properties, _ := out.get("properties").(object)
	for i := range out {
		if out[i].name == "properties" {
			out[i].value = properties.with(before, optional).with(name, object{{"type", []string{"object", "null"}}})
		}
	}
	change := object{{"properties", object{{name, row}}}, {"required", []string{name}}}
	gone := object{{"properties", object{{before, row}, {name, object{{"type", "null"}}}}}, {"required", []string{before}}}
	return out.with("anyOf", []any{change, gone})
}

// optionals returns copies of what is below n, with nothing needed.
func optionals(n *tree) (out []*tree) {
	for _, m := range n.children {
		c := *m
		c.why, c.children = "", optionals(m)
		out = append(out, &c)
	}
	return out
}

// debezium adds Debezium's metadata of a change, and the form that includes the schema.
func (t *Terms) debezium(change object) object {
	properties, _ := change.get("properties").(object)
	required, _ := change.get("required").([]string)
	if properties.get("op") == nil {
		properties = properties.with("op", object{{"enum", []any{"c", "u", "d", "r", "t", "m"}}})
	}
	var out object
	for _, m := range change {
		if m.name != "properties" && m.name != "required" {
			out = append(out, m)
		}
	}
	out = out.with("properties", properties).with("required", append(slices.Clone(required), "op"))
	wrapped := object{{"type", "object"}, {"description", "with Kafka Connect's schema, which says what numbers mean"},
		{"properties", object{{"schema", object{{"type", "object"}}}, {"payload", object{{"type", []string{"object", "null"}},
			{"properties", object{{"op", object{{"enum", []any{"c", "u", "d", "r", "t", "m"}}}}}}, {"required", []string{"op"}}}}}},
		{"required", []string{"schema", "payload"}}}
	return object{{"anyOf", []any{out, wrapped}}}
}

// logged describes records of Canal and Maxwell, which have rows at data.
func (t *Terms) logged(root *tree, form event.EnvelopeForm) object {
	data := root.child("data")
	if data == nil {
		data = &tree{key: "data"}
	}
	if form == event.Canal {
		mark(root, t.Schema.Images, func(n *tree) { n.texts = true })
	}
	outer := &tree{}
	for _, n := range root.children {
		if n != data && n.key != "old" && n.key != "type" {
			outer.children = append(outer.children, n)
		}
	}
	out := t.branch(outer, true)
	row, kinds := t.branch(data, true), []any{"insert", "update", "delete", "bootstrap-insert"}
	var rows any = row
	if form == event.Canal {
		rows, kinds = object{{"type", "array"}, {"items", row}, {"minItems", 1}}, []any{"INSERT", "UPDATE", "DELETE"}
	}
	properties, _ := out.get("properties").(object)
	required, _ := out.get("required").([]string)
	properties = properties.with("type", object{{"enum", kinds}}).with("data", rows)
	required = append(slices.Clone(required), "type", "data")
	position := t.Schema.Position
	if form != event.Maxwell || position == nil || position.Pos != "" || !slices.Contains(required, "position") {
		return object{{"type", "object"}, {"properties", properties}, {"required", required}}
	}
	required = slices.DeleteFunc(required, func(name string) bool { return name == "position" })
	bootstrap := object{{"properties", object{{"type", object{{"const", "bootstrap-insert"}}}}}}
	return object{{"type", "object"}, {"properties", properties}, {"required", required},
		{"anyOf", []any{object{{"required", []string{"position"}}}, bootstrap}}}
}
