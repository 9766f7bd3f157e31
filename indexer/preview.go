package indexer

import (
	"fmt"
	"hash/maphash"

	"github.com/valyala/fastjson"

	"brine/event"
)

// Preview makes the documents that events would become, and writes nothing. It is used by one goroutine.
type Preview struct {
	writer *Writer
	cargo  *cargo
	parser fastjson.Parser
}

// Change is what an event does to one document.
type Change struct {
	Index  string
	ID     []byte
	Whole  bool // the document is replaced
	Fields []FieldValue
}

// FieldValue is one field of a document, as JSON in one spelling only.
type FieldValue struct {
	Name    string
	Version int64
	JSON    []byte
}

// NewPreview makes a preview. Its errors are those of New.
func NewPreview(opts Options) (*Preview, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts.setDefaults()
	w := &Writer{opts: opts, docs: compile(opts.Schema, opts.Documents, true), seed: maphash.MakeSeed()}
	keys, err := w.keys()
	return &Preview{writer: w, cargo: w.newCargo(keys)}, err
}

// Changes gives each document that the event changes, or the failure with which it would be rejected. A change lasts until the
// next event.
func (p *Preview) Changes(ev *event.Event, change func(Change)) *event.Failure {
	c := p.cargo
	c.ops, c.bytes = c.ops[:0], c.bytes[:0]
	for _, d := range p.writer.docs {
		if failure := p.writer.encode(c, nil, d, 0, ev); failure != nil {
			return failure
		}
	}
	for i := range c.ops {
		o := &c.ops[i]
		out := Change{Index: o.doc.Index, ID: o.id, Whole: o.doc.Changes == Whole}
		if out.Whole {
			out.Fields, _ = fields(&p.parser, o.source) // it has just been written
		} else {
			out.Fields = o.fields()
		}
		change(out)
	}
	return nil
}

// fields are those that a partial change carries.
func (o *op) fields() (out []FieldValue) {
	_, rest := nextPart(o.source)
	var part []byte
	for _, c := range o.doc.columns {
		if part, rest = nextPart(rest); len(part) > 0 {
			out = append(out, FieldValue{c.name, o.version, part})
		}
	}
	return out
}

// Fields are the fields of a stored document but for brine's own, each with its version.
func Fields(source []byte) ([]FieldValue, error) { return fields(new(fastjson.Parser), source) }

func fields(parser *fastjson.Parser, source []byte) (out []FieldValue, err error) {
	v, err := parser.ParseBytes(source)
	if err != nil {
		return nil, fmt.Errorf("the stored document is not JSON: %w", err)
	}
	stored, err := v.Object()
	if err != nil {
		return nil, fmt.Errorf("the stored document is not an object: %w", err)
	}
	stored.Visit(func(key []byte, v *fastjson.Value) {
		if len(key) > 0 && key[0] == '_' || v.Type() == fastjson.TypeNull {
			return
		}
		name := string(key)
		out = append(out, FieldValue{name, storedVersion(stored, name), appendStored(nil, v)})
	})
	return out, nil
}

// AppendID appends the id of the document of a row.
func AppendID(dst, row []byte) []byte {
	id, _ := appendID(dst, row)
	return id
}
