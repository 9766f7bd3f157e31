package event

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Decoder turns records into events. It is not safe for concurrent use: every partition worker has its own.
//
// It reads JSON objects strictly: RFC 8259 grammar, valid UTF-8 (lone surrogate escapes included), no declared field
// twice, nothing after the object. Names are compared exactly. Fields that are not declared are skipped over.
// jsontext checks the record in one go; what is declared is then cut out of it without copying.
type Decoder struct {
	schema      Schema
	versionPath string // for people
	root        *node
	json        jsontext.Decoder
	input       bytes.Buffer // over the record's bytes, which json checks in place
	name        []byte       // scratch for a member name written with escapes
	count       uint64       // of records decoded; marks the nodes that the current one has had
}

// node is one object key on the way to a declared field.
type node struct {
	key      string
	path     string  // for people: keys from the root, joined by "."
	field    int     // position in the schema; -1 on the way
	typ      Type    // of the field
	children []*node // of an object
	seen     uint64  // Decoder.count of the last record that held this key
}

// NewDecoder makes a decoder for JSON objects of this schema, which must be valid (Schema.Validate).
func NewDecoder(schema Schema) *Decoder {
	if err := schema.Validate(); err != nil {
		panic("BUG: event.NewDecoder: " + err.Error())
	}
	d := &Decoder{schema: schema, root: &node{field: -1}}
	for i, f := range schema.Fields {
		n := d.root
		for depth, key := range f.path() {
			n = n.child(key, strings.Join(f.path()[:depth+1], "."))
		}
		n.field, n.typ = i, f.Type
		if i == schema.Version {
			d.versionPath = n.path
		}
	}
	return d
}

// child finds or adds the key below n.
func (n *node) child(key, path string) *node {
	for _, m := range n.children {
		if m.key == key {
			return m
		}
	}
	m := &node{key: key, path: path, field: -1}
	n.children = append(n.children, m)
	return m
}

// Decode appends the event of rec to b. On error (always an *Error) b is unchanged.
func (d *Decoder) Decode(rec *Record, b *Batch) error {
	mark := len(b.texts)
	values := b.cut(len(d.schema.Fields))
	version, err := d.decode(rec, b, values)
	if err != nil {
		clear(values)
		b.values = b.values[:len(b.values)-len(values)]
		b.texts = b.texts[:min(mark, len(b.texts))]
		return err
	}
	b.Events = append(b.Events, Event{Record: rec, Values: values, Version: version})
	return nil
}

// Reset empties b and takes back the buffers that its events' values point to.
func (d *Decoder) Reset(b *Batch) {
	clear(b.Events) // lets go of the records
	clear(b.values)
	b.Events, b.values, b.texts = b.Events[:0], b.values[:0], b.texts[:0]
}

func (d *Decoder) decode(rec *Record, b *Batch, values []Value) (int64, *Error) {
	if err := d.check(rec.Value); err != nil {
		return 0, err
	}
	d.count++
	if err := d.object(d.root, &cursor{json: rec.Value}, b, values); err != nil {
		return 0, err
	}
	return d.version(rec, values)
}

// check holds that the record is one valid JSON object and nothing else.
func (d *Decoder) check(record []byte) *Error {
	if len(record) == 0 {
		return &Error{Reason: Undecodable, Detail: "the record is empty"}
	}
	d.input = *bytes.NewBuffer(record)
	d.json.Reset(&d.input, jsontext.AllowDuplicateNames(true)) // only declared ones matter: see node.seen
	object, err := d.json.ReadValue()
	if err != nil {
		return undecodable(err)
	}
	if object[0] != '{' {
		return &Error{Reason: Undecodable, Detail: "a JSON object is expected, found " + kindName(object[0])}
	}
	if rest := bytes.TrimLeft(record[d.json.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return &Error{Reason: Undecodable, Detail: fmt.Sprintf("something follows the object at byte %d", len(record)-len(rest))}
	}
	return nil
}

// object reads the members of the object at c.
func (d *Decoder) object(n *node, c *cursor, b *Batch, values []Value) *Error {
	for c.skip(); c.peek() != '}'; { // past "{", and past "," below
		m := d.find(n, c)
		c.skip() // ":"
		switch {
		case m == nil:
			c.value()
		case m.seen == d.count:
			return &Error{Reason: Undecodable, Field: m.path, Detail: "it is there twice"}
		default:
			m.seen = d.count
			if err := d.member(m, c, b, values); err != nil {
				return err
			}
		}
		if c.peek() == ',' {
			c.skip()
		}
	}
	c.skip()
	return nil
}

// find reads a member's name and gives the declared key that it means, or nil.
func (d *Decoder) find(n *node, c *cursor) *node {
	quoted := c.value()
	name := quoted[1 : len(quoted)-1]
	if c.escaped {
		d.name = appendUnquoted(d.name[:0], quoted)
		name = d.name
	}
	for _, m := range n.children {
		if m.key == string(name) {
			return m
		}
	}
	return nil
}

// member reads the value of one declared key.
func (d *Decoder) member(n *node, c *cursor, b *Batch, values []Value) *Error {
	kind := c.peek()
	if n.field < 0 && kind == '{' {
		return d.object(n, c, b, values)
	}
	raw := c.value()
	if kind == 'n' {
		return nil
	}
	if n.field < 0 {
		return &Error{Reason: WrongType, Field: n.path, Detail: "an object is expected, found " + kindName(kind)}
	}
	if detail := b.parse(&values[n.field], n.typ, raw, c.escaped); detail != "" {
		return &Error{Reason: WrongType, Field: n.path, Detail: detail}
	}
	return nil
}

// undecodable words a fault of the JSON itself.
func undecodable(err error) *Error {
	var s *jsontext.SyntacticError
	if !errors.As(err, &s) {
		return &Error{Reason: Undecodable, Detail: err.Error()}
	}
	field := strings.ReplaceAll(strings.TrimPrefix(string(s.JSONPointer), "/"), "/", ".")
	return &Error{Reason: Undecodable, Field: field, Detail: fmt.Sprintf("%v at byte %d", s.Err, s.ByteOffset)}
}

// kindName names the kind of value that begins with this byte.
func kindName(first byte) string {
	switch first {
	case 'n':
		return "null"
	case 't', 'f':
		return "a bool"
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	default:
		return "a number"
	}
}
