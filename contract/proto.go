package contract

import (
	"fmt"
	"strings"

	"brine/event"
)

// Proto returns the smallest Protobuf message that the pipeline takes, as a .proto file. If a schema file applies to all records, it
// returns that file; if they are Canal's packets, it returns those messages.
func (t *Terms) Proto() ([]byte, error) {
	if t.packets() {
		return t.packet(), nil
	}
	if err := t.described(Protobuf, "proto"); err != nil {
		return nil, err
	}
	if t.Text != nil {
		return t.Text, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// Records that pipeline %s of brine accepts from topic %s. "+
		"The publisher chooses the field numbers, and must not change them later.\n",
		t.Pipeline, t.Topic)
	b.WriteString("syntax = \"proto3\";\n\n")
	if err := t.message(&b, t.part(event.InValue), typeName(t.Pipeline), ""); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// message writes a message, with the messages of its fields nested.
func (t *Terms) message(b *strings.Builder, n *tree, name, indent string) error {
	fmt.Fprintf(b, "%smessage %s {\n", indent, name)
	for i, m := range n.children {
		if !avroName.MatchString(m.key) {
			return unfit("%s is not a valid field name in Protobuf; write the message by hand, and see docs/formats.md", quoted(m.key))
		}
		label, within := "", m
		if m.field == nil && m.elements() {
			label, within = "repeated ", merged(m)
		} else if m.field != nil && m.why == "" {
			label = "optional "
		}
		kind := protoScalar(within.field)
		if within.field == nil {
			kind = typeName(m.key)
			if err := t.message(b, within, kind, indent+"  "); err != nil {
				return err
			}
		} else if said := t.says(within); said != "" {
			fmt.Fprintf(b, "%s  // %s\n", indent, said)
		}
		fmt.Fprintf(b, "%s  %s%s %s = %d;\n", indent, label, kind, m.key, i+1)
	}
	fmt.Fprintf(b, "%s}\n", indent)
	return nil
}

func protoScalar(f *event.Field) string {
	if f == nil {
		return ""
	}
	switch f.Type {
	case event.Bytes:
		return "bytes"
	case event.Int, event.TimeMS, event.TimeS, event.TimeUS, event.TimeNS:
		return "int64"
	case event.Float:
		return "double"
	case event.Bool:
		return "bool"
	case event.Time:
		if strings.HasPrefix(f.Format, "epoch_") {
			return "int64"
		}
	}
	return "string"
}
