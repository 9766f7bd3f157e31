package contract

import (
	"regexp"
	"strings"

	"brine/event"
)

// avroName matches valid names in Avro and Protobuf.
var avroName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// described returns nil if a schema in the records' own language can be made from the fields.
func (t *Terms) described(format, flag string) error {
	switch {
	case t.Format != format:
		return unfit("records of pipeline %s are %s, not %s; omit --format", t.Pipeline, t.Format, format)
	case t.Schema.Envelope != nil || len(t.Schema.Images.Before) > 0:
		return unfit("records of pipeline %s are changes in their publisher's envelope, which its own schema describes; use --format "+
			"asyncapi instead of %s", t.Pipeline, flag)
	}
	return nil
}

// Avro returns the smallest Avro schema that the pipeline takes: the fields that it declares. If a schema file applies to all records, it
// returns that file.
func (t *Terms) Avro() ([]byte, error) {
	if err := t.described(Avro, "avro"); err != nil {
		return nil, err
	}
	if t.Text != nil {
		return t.Text, nil
	}
	schema, err := t.avroRecord(t.part(event.InValue), typeName(t.Pipeline))
	if err != nil {
		return nil, err
	}
	return document(schema), nil
}

// typeName turns a name into the name of a type.
func typeName(name string) (out string) {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		out += strings.ToUpper(part[:1]) + part[1:]
	}
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		return "Record" + out
	}
	return out
}

func (t *Terms) avroRecord(n *tree, name string) (object, error) {
	var fields []any
	for _, m := range n.children {
		if !avroName.MatchString(m.key) {
			return nil, unfit("%s is not a valid field name in Avro; write the schema by hand, and see docs/formats.md", quoted(m.key))
		}
		kind, err := t.avroType(m, name+typeName(m.key))
		if err != nil {
			return nil, err
		}
		field := object{{"name", m.key}}
		if m.field != nil {
			if said := t.says(m); said != "" {
				field = field.with("doc", said)
			}
		}
		if field = field.with("type", kind); !m.needed() {
			field[len(field)-1].value = []any{"null", kind}
			field = field.with("default", nil)
		}
		fields = append(fields, field)
	}
	return object{{"type", "record"}, {"name", name}, {"fields", fields}}, nil
}

// avroType returns the type of n.
func (t *Terms) avroType(n *tree, name string) (any, error) {
	switch {
	case n.field != nil:
		return avroScalar(n.field), nil
	case n.elements():
		items, err := t.avroType(merged(n), name)
		return object{{"type", "array"}, {"items", items}}, err
	}
	return t.avroRecord(n, name)
}

// merged returns one element that has everything that any element below n has.
func merged(n *tree) *tree {
	out := &tree{}
	for _, element := range n.children {
		if element.field != nil {
			return &tree{field: element.field, why: element.why}
		}
		for _, m := range element.children {
			if out.child(m.key) == nil {
				out.children = append(out.children, m)
			}
		}
	}
	return out
}

func avroScalar(f *event.Field) any {
	switch f.Type {
	case event.Int, event.TimeS:
		return "long"
	case event.TimeUS:
		return object{{"type", "long"}, {"logicalType", "timestamp-micros"}}
	case event.TimeNS:
		return object{{"type", "long"}, {"logicalType", "timestamp-nanos"}}
	case event.Date:
		return object{{"type", "int"}, {"logicalType", "date"}}
	case event.Bytes:
		return "bytes"
	case event.Decimal:
		if !f.Decimal { // its scale is the publisher's choice; a text keeps whatever it is
			return "string"
		}
		return object{{"type", "bytes"}, {"logicalType", "decimal"}, {"precision", 38}, {"scale", f.Scale}}
	case event.TimeMS:
		return object{{"type", "long"}, {"logicalType", "timestamp-millis"}}
	case event.Float:
		return "double"
	case event.Bool:
		return "boolean"
	case event.Time:
		if strings.HasPrefix(f.Format, "epoch_") {
			return "long"
		}
	}
	return "string"
}
