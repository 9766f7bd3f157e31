package protobuf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"brine/event"
)

// What is rendered as JSON is temporarily a message of its own, which takes many times its bytes in memory. So its depth and number of
// values are bounded, including messages in Any.
const (
	maxDepth  = 100
	maxValues = 1 << 18
)

// renderer writes fields as Protobuf's JSON.
type renderer struct {
	flat bytes.Buffer
}

// setJSON sets a node to the JSON of its field.
func (r *reader) setJSON(f *field, b *event.Builder) *event.Error {
	if !f.here {
		if f.preset && !f.part {
			return b.JSON(f.node, f.zero)
		}
		return nil
	}
	bound := bound{node: f.node, types: r.schema.types, left: maxValues}
	if err := bound.message(f.desc.ContainingMessage(), f.held, 0); err != nil {
		return err
	}
	text, err := r.render.json(f, r.schema)
	if err != nil {
		return err
	}
	if text == nil { // the same as if it was absent
		text = f.zero
	}
	return b.JSON(f.node, text)
}

// longestPlaceholder is more than the bytes of a list or map that stands for a column which the publisher could not send.
const longestPlaceholder = 512

// lacks reports whether a list or map stands for a column that the publisher could not send.
func (r *reader) lacks(f *field, b *event.Builder) bool {
	if !f.here || len(f.held) > longestPlaceholder || f.role == indexed && !f.node.MayLack(f.count) {
		return false
	}
	text, err := r.render.json(f, r.schema)
	return err == nil && text != nil && b.Lacks(f.node, text)
}

// json returns the JSON of a field, or nil if it has its default. Protobuf's package inserts blanks that vary between builds; they are
// removed.
func (r *renderer) json(f *field, s *Schema) (text []byte, failed *event.Error) {
	defer func() {
		if p := recover(); p != nil { // a panic in Protobuf's package; no record may end the process
			text, failed = nil, f.unrendered(event.Undecodable, fmt.Errorf("%v", p))
		}
	}()
	m := dynamicpb.NewMessage(f.desc.ContainingMessage())
	if err := (proto.UnmarshalOptions{Resolver: s.types, RecursionLimit: 2 * maxDepth, AllowPartial: true}).Unmarshal(f.held, m); err != nil {
		return nil, f.unrendered(event.Undecodable, err)
	}
	text, err := protojson.MarshalOptions{Resolver: s.types, AllowPartial: true}.Marshal(m)
	if err != nil {
		return nil, f.unrendered(event.WrongType, err)
	}
	r.flat.Reset()
	if err := json.Compact(&r.flat, text); err != nil {
		return nil, f.unrendered(event.WrongType, err)
	}
	text = r.flat.Bytes()
	text, ok := bytes.CutPrefix(text[:len(text)-1], []byte(`{"`+f.desc.JSONName()+`":`))
	if !ok {
		return nil, nil
	}
	if f.part && f.desc.IsList() {
		text = text[1 : len(text)-1]
	}
	return text, nil
}

// unrendered words an error of Protobuf's package, which inserts a varying blank as well.
func (f *field) unrendered(reason event.Reason, err error) *event.Error {
	detail := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto: ")
	return (&event.Error{Reason: reason, Field: f.node.Path(), Detail: "it cannot be written as JSON: " + detail}).Short()
}

// bound counts the values of a message and of the messages in it.
type bound struct {
	node  *event.Node
	types *dynamicpb.Types
	left  int
}

func (c *bound) message(md protoreflect.MessageDescriptor, p []byte, depth int) *event.Error {
	if depth > maxDepth {
		return &event.Error{Reason: event.TooLarge, Field: c.node.Path(),
			Detail: fmt.Sprintf("messages are nested more than %d levels deep", maxDepth)}
	}
	var o occurrence
	var url, packed []byte // of an Any
	for rest := p; len(rest) > 0; {
		number, n := next(rest, &o)
		if number == 0 {
			return broken(c.node, p, len(p)-len(rest))
		}
		rest = rest[n:]
		fd := md.Fields().ByNumber(number)
		if fd == nil {
			continue
		}
		c.left--
		switch wire := wireType(fd.Kind()); {
		case md.IsMapEntry() && o.wire != wire: // Protobuf's package panics at a second key, or value, with another wire type
			return &event.Error{Reason: event.WrongType, Field: c.node.Path(), Detail: fmt.Sprintf("the %s of a map is %s, which is %s, found %s",
				fd.Name(), fd.Kind(), wireNames[wire], wireNames[o.wire])}
		case o.wire == protowire.BytesType && fd.IsList() && packable(wire):
			c.left -= elementsIn(wire, o.bytes)
		case fd.Message() != nil && o.wire == wire:
			if err := c.message(fd.Message(), o.bytes, depth+1); err != nil {
				return err
			}
		case number == 1:
			url = o.bytes
		case number == 2:
			packed = o.bytes
		}
		if c.left < 0 {
			return &event.Error{Reason: event.TooLarge, Field: c.node.Path(), Detail: fmt.Sprintf("it holds more than %d values", maxValues)}
		}
	}
	if md.FullName() != "google.protobuf.Any" {
		return nil
	}
	held, err := c.types.FindMessageByURL(string(url))
	if err != nil {
		return nil //nolint:nilerr // reported when it is written
	}
	return c.message(held.Descriptor(), packed, depth+1)
}

// elementsIn counts packed values.
func elementsIn(t protowire.Type, p []byte) (n int) {
	switch t {
	case protowire.Fixed32Type:
		return len(p) / 4
	case protowire.Fixed64Type:
		return len(p) / 8
	}
	for _, c := range p {
		if c < 0x80 {
			n++
		}
	}
	return n
}

// zeroJSON returns the JSON of a field that is absent.
func zeroJSON(fd protoreflect.FieldDescriptor, many bool) []byte {
	m := dynamicpb.NewMessage(fd.ContainingMessage())
	switch {
	case many || fd.IsList():
	case fd.Message() != nil:
		m.Mutable(fd)
	case fd.HasPresence():
		m.Set(fd, fd.Default())
	}
	options := protojson.MarshalOptions{EmitDefaultValues: fd.Message() == nil || many, AllowPartial: true}
	text, err := options.Marshal(m)
	var members map[string]json.RawMessage
	var flat bytes.Buffer
	if err != nil || json.Unmarshal(text, &members) != nil || json.Compact(&flat, members[fd.JSONName()]) != nil {
		return []byte("null")
	}
	return flat.Bytes()
}
