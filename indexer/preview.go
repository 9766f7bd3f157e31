package indexer

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/valyala/fastjson"

	"brine/event"
)

// Preview makes the documents that events would become, without writing them. It must be used by one goroutine only.
type Preview struct {
	writer *Writer
	cargo  *cargo
	parser fastjson.Parser
}

// Change is what an event does to one document.
type Change struct {
	Index  string
	Part   string // the index that holds it if the engine is Partitioned
	ID     []byte
	Whole  bool // the document is replaced
	Fields []FieldValue
}

// In returns the index of an engine that holds the document.
func (c *Change) In(e Engine) string {
	if _, parted := e.(Partitioned); parted {
		return c.Part
	}
	return c.Index
}

// FieldValue is one field of a document, in a canonical form of JSON.
type FieldValue struct {
	Name    string
	Version int64
	JSON    []byte
}

// NewPreview returns a preview. Its errors are those of New.
func NewPreview(opts Options) (*Preview, error) {
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	w := &Writer{opts: opts, docs: compile(opts.Schema, opts.Documents, true), seed: maphash.MakeSeed()}
	keys, err := w.keys()
	return &Preview{writer: w, cargo: w.newCargo(keys)}, err
}

// Changes calls change for each document that the event changes, or returns the failure with which the event would be rejected. A change is
// valid until the next event.
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
		out := Change{Index: o.doc.Index, Part: o.index, ID: o.id, Whole: o.doc.Changes == Whole}
		if out.Whole {
			out.Fields, _ = fields(&p.parser, o.source) // it has just been written
		} else {
			out.Fields = o.fields()
		}
		change(out)
	}
	return nil
}

// fields returns the fields that a partial change carries.
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

// Fields returns the fields of a stored document without brine's own, each with its version.
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
		name := string(key)
		if strings.HasPrefix(name, "_") || !says(stored, name, v) {
			return
		}
		out = append(out, FieldValue{name, storedVersion(stored, name), appendStored(nil, v)})
	})
	return out, nil
}

// Without returns the operation that writes a stored document without some of its fields; brine's own fields stay. If no other field is
// left, the operation removes the document.
func Without(ref Ref, stored Stored, gone func(FieldValue) bool) (Op, error) {
	parser := new(fastjson.Parser)
	all, err := fields(parser, stored.Source)
	if err != nil {
		return Op{}, err
	}
	op := Op{Kind: Delete, Index: ref.Index, ID: ref.ID, SeqNo: stored.SeqNo, PrimaryTerm: stored.PrimaryTerm}
	v, err := parser.ParseBytes(stored.Source)
	if err != nil {
		return Op{}, err
	}
	for _, f := range all {
		if !gone(f) {
			op.Kind = Replace
			continue
		}
		v.Del(f.Name)
		v.Get(FieldVersions).Del(f.Name)
	}
	if op.Kind == Delete {
		return op, nil
	}
	if v.Get(FieldVersions) == nil { // a document of whole changes keeps its version, otherwise the next change would count as older
		op.Kind, op.Version = Put, stored.Version
	}
	op.Source = v.MarshalTo(nil)
	return op, nil
}

// AppendID appends the id of the document of a row.
func AppendID(dst, row []byte) []byte {
	id, _ := appendID(dst, row)
	return id
}
