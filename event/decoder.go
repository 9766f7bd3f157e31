package event

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Decoder turns records into events. It is not safe for concurrent use: every partition worker has its own.
//
// It reads JSON objects strictly: RFC 8259 grammar, valid UTF-8 (lone surrogate escapes included), no declared field
// twice, nothing after the object. Names are compared exactly. Fields that are not declared are skipped over.
// Texts are cut out of the record without copying.
type Decoder struct {
	schema      Schema
	versionPath string // for people
	sequence    int    // position of the schema's Sequence; -1: none
	images      images
	root        *node
	json        jsontext.Decoder
	input       bytes.Buffer // over the record's bytes, which json reads in place
	name        []byte       // scratch for a member name written with escapes
	count       uint64       // of records decoded; marks the nodes that the current one has had
}

// NewDecoder makes a decoder for JSON objects of this schema, which must be valid (Schema.Validate).
func NewDecoder(schema Schema) *Decoder {
	if err := schema.Validate(); err != nil {
		panic("BUG: event.NewDecoder: " + err.Error())
	}
	d := &Decoder{schema: schema, sequence: schema.position(schema.Sequence), root: &node{field: -1}}
	for i, f := range schema.Fields {
		if schema.Images.Deleted == f.Name {
			continue // not of the record
		}
		d.place(f.Keys(), i, f)
		if former, ok := schema.former(i); ok {
			d.place(former, len(schema.Fields)+i, f)
		}
		if i == schema.Version {
			d.versionPath = fieldPath(f)
		}
	}
	if i := schema.Images; len(i.Before) > 0 {
		d.images = images{before: d.at(i.Before), deleted: schema.position(i.Deleted)}
		if len(i.After) > 0 {
			d.images.after = d.at(i.After)
		}
	}
	return d
}

// Decode appends the event of rec to b. On error (always an *Error) b is unchanged.
func (d *Decoder) Decode(rec *Record, b *Batch) error {
	mark := len(b.texts)
	n := len(d.schema.Fields)
	size := n
	if d.images.before != nil {
		size = 2 * n
	}
	values := b.cut(size)
	if size > n && len(rec.Value) == 0 {
		b.Events = append(b.Events, Event{Record: rec, Values: values[:n:n], Version: max(0, rec.Timestamp), Tombstone: true})
		return nil
	}
	ev := Event{Record: rec, Values: values[:n:n]}
	err := d.decode(rec, b, values)
	if err == nil && size > n {
		ev.Former = d.compare(values)
	}
	if err == nil {
		ev.Version, err = d.version(rec, values)
	}
	if err != nil {
		clear(values)
		b.values = b.values[:len(b.values)-len(values)]
		b.texts = b.texts[:min(mark, len(b.texts))]
		return err
	}
	b.Events = append(b.Events, ev)
	return nil
}

// Reset empties b and takes back the buffers that its events' values point to.
func (d *Decoder) Reset(b *Batch) {
	clear(b.Events) // lets go of the records
	clear(b.values)
	b.Events, b.values, b.texts = b.Events[:0], b.values[:0], b.texts[:0]
}

func (d *Decoder) decode(rec *Record, b *Batch, values []Value) *Error {
	if rec.Value == nil {
		return &Error{Reason: Undecodable, Detail: "the record has no value: it is a tombstone, which deletes its key in a compacted topic"}
	}
	d.count++
	d.input = *bytes.NewBuffer(rec.Value)
	d.json.Reset(&d.input, jsontext.AllowDuplicateNames(true)) // only declared ones matter: see node.seen
	if kind := d.json.PeekKind(); kind != '{' && kind != 0 {
		return &Error{Reason: Undecodable, Detail: "a JSON object is expected, found " + kindName(kind)}
	}
	if err := d.object(d.root, rec.Value, b, values); err != nil {
		return err
	}
	if rest := bytes.TrimLeft(rec.Value[d.json.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return &Error{Reason: Undecodable, Detail: fmt.Sprintf("something follows the object at byte %d", len(rec.Value)-len(rest))}
	}
	return nil
}

// object reads the members of one object of the record.
func (d *Decoder) object(n *node, record []byte, b *Batch, values []Value) *Error {
	if _, err := d.json.ReadToken(); err != nil {
		return undecodable(err)
	}
	for d.json.PeekKind() != '}' {
		name, err := d.json.ReadValue()
		if err != nil {
			return undecodable(err)
		}
		m := d.find(n, name)
		switch {
		case m == nil:
			if _, err := d.json.ReadValue(); err != nil {
				return undecodable(err)
			}
		case m.seen == d.count:
			return &Error{Reason: Undecodable, Field: m.path, Detail: "it is there twice"}
		default:
			m.seen = d.count
			if err := d.member(m, record, b, values); err != nil {
				return err
			}
		}
	}
	if _, err := d.json.ReadToken(); err != nil {
		return undecodable(err)
	}
	return nil
}

// find returns the declared key that a quoted member name means, or nil.
func (d *Decoder) find(n *node, quoted jsontext.Value) *node {
	name := []byte(quoted[1 : len(quoted)-1])
	if bytes.IndexByte(name, '\\') >= 0 {
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
func (d *Decoder) member(n *node, record []byte, b *Batch, values []Value) *Error {
	kind := d.json.PeekKind()
	n.null = kind == 'n'
	if n.field < 0 && kind == '{' {
		return d.object(n, record, b, values)
	}
	raw, err := d.json.ReadValue()
	switch {
	case err != nil:
		return undecodable(err)
	case kind == 'n':
		return nil
	case n.field < 0:
		return &Error{Reason: WrongType, Field: n.path, Detail: "an object is expected, found " + kindName(kind)}
	}
	// What ReadValue returns lasts until the next read only; the same bytes of the record last longer.
	end := int(d.json.InputOffset())
	if detail := b.parse(&values[n.field], n, kind, record[end-len(raw):end]); detail != "" {
		return &Error{Reason: WrongType, Field: n.path, Detail: detail}
	}
	return nil
}

func kindName(k jsontext.Kind) string {
	switch k {
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
