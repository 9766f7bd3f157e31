package event

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Fix replaces what records hold in some fields by the results of expressions, for records that cannot be written as they are. The result
// for a field is read like what a record holds: by the field's type, format and conversion.
type Fix struct {
	// Deriver computes a value for each of Fields, in their order, from the fields that Declared returns.
	Deriver
	// Fields are positions in the schema's Fields, ascending.
	Fields []int
}

// Declared returns the schema's recorded fields as the fix's expressions see them. A fixed field is a text, whatever the record holds: a
// text itself, a number as it is written, a time that a schema describes in RFC 3339, anything else as JSON.
func (x *Fix) Declared(fields []Field) (out []Field) {
	for i, f := range fields {
		if f.Made {
			break // the fields that are made follow
		}
		if slices.Contains(x.Fields, i) {
			f = Field{Name: f.Name, Type: Text, Path: f.Path, Place: f.Place}
		}
		out = append(out, f)
	}
	return out
}

// Fixable returns why a field cannot be fixed; empty if it can.
func (f Field) Fixable() string {
	switch {
	case f.Made:
		return "is made by an expression; fix the fields that it is made from, or the expression"
	case !f.Const.Null():
		return "has a value in the configuration, so nothing is read"
	case f.Place == RecordTopic || f.Place == RecordTime || !f.Place.Replayable():
		return "is " + f.Where() + ", which Kafka sets for the record"
	}
	return ""
}

func (x *Fix) validate(s Schema) error {
	if x == nil {
		return nil
	}
	for _, i := range x.Fields {
		if i < 0 || i >= len(s.Fields) {
			return fmt.Errorf("the fix names field %d of %d", i, len(s.Fields))
		}
		if why := s.Fields[i].Fixable(); why != "" || s.Fields[i].Name == s.Images.Deleted || s.Envelope.makes(s.Fields[i]) {
			return fmt.Errorf("field %s cannot be fixed: it %s", s.Fields[i].Name, why)
		}
	}
	return nil
}

// fixer is a fix in a decoder.
type fixer struct {
	*Fix
	evaluator Evaluator
	recorded  int     // number of fields that expressions see
	nodes     []*Node // for Fields: how a record's value is read
	raw       []int   // for Fields: see Node.raw
	seen      []Value // the current image as expressions see it, followed by their results
	unsent    []bool  // fields of the current image that the publisher could not send
	lasting   []bool  // see partial
	zoned     *TimeFormat
}

func newFixer(s Schema, root *Node) *fixer {
	x := &fixer{Fix: s.Fix, evaluator: s.Fix.Evaluator(), recorded: len(s.Fix.Declared(s.Fields))}
	for _, i := range x.Fields {
		n := &Node{path: s.Fields[i].Where(), index: -1}
		n.hold(i, s.Fields[i])
		x.nodes = append(x.nodes, n)
		raw := 0
		if s.Fields[i].OfValue() {
			raw = root.at(s.Fields[i].Keys()).raw
		}
		x.raw = append(x.raw, raw)
	}
	x.seen = make([]Value, x.recorded+len(x.Fields))
	x.unsent, x.lasting = make([]bool, len(s.Fields)), s.partial().lasting
	x.zoned, _ = ParseTimeFormat(RFC3339, "")
	return x
}

// loosen makes the node accept any value as it is if its field is fixed; the type is checked after the fix.
func (d *Decoder) loosen(n *Node, field int) {
	if d.schema.Fix == nil || !slices.Contains(d.schema.Fix.Fields, field) {
		return
	}
	f := d.schema.Fields[field]
	n.loose, n.convert, n.numbers = true, nil, false
	if f.Type.TakesTimes() {
		n.timed = f.Type
	}
	if n.typ = Nested; f.Place != InValue && f.Place != InKey {
		n.typ = Text
	}
}

// fix fixes the current event, and its former values.
func (b *Builder) fix() *Error {
	d, n := b.decoder, len(b.decoder.schema.Fields)
	deletes := d.deletes()
	if !deletes { // otherwise there is no after-image
		if err := b.fixImage(b.values[:n], 0); err != nil {
			return err
		}
		b.lacking = slices.DeleteFunc(b.lacking, b.filled)
	}
	if d.images.before == nil || !d.has(d.images.before) {
		return nil
	}
	after, former := slices.Clone(b.values[:n]), b.values[n:2*n]
	copy(b.values[:n], former) // fixImage reads the after-image
	err := b.fixImage(b.values[:n], n)
	for _, i := range d.fixer.Fields {
		if known := !former[i].Null(); known && err == nil { // what it lacks did not change, or is not known
			former[i] = b.values[i]
		} else {
			former[i] = Value{}
		}
	}
	copy(b.values[:n], after)
	if deletes {
		return err
	}
	return nil
}

// filled reports whether all fields of a column have values.
func (b *Builder) filled(n *Node) bool {
	all := true
	n.each(func(field int) { all = all && !b.values[field].Null() })
	return all
}

// fixImage fixes the fields of the after-image. Nodes of the image that it is hold fields from number first on. What an expression makes of
// a column that was not sent is Unsent too, so that it is not written; see Evaluator.DeriveUpdate.
func (b *Builder) fixImage(values []Value, first int) *Error {
	x := b.decoder.fixer
	copy(x.seen, values[:x.recorded])
	clear(x.seen[x.recorded:])
	for k, i := range x.Fields {
		x.seen[i] = b.asText(values[i], x.nodes[k].typ == Nested)
	}
	if _, err := x.derive(b.lacking, first); err != nil {
		return err
	}
	for k, i := range x.Fields {
		made, n := x.seen[x.recorded+k], x.nodes[k]
		if values[i].Type.TakesTimes() && made.Type == Text && bytes.Equal(made.text, x.seen[i].text) {
			continue // the time that a schema describes
		}
		values[i] = Value{}
		switch {
		case made.Unsent() && first == 0:
			b.notSent(i)
			continue
		case made.Null():
			continue
		}
		text := b.Keep(asWritten(made))
		if x.raw[k] > 0 && first == 0 {
			b.values[x.raw[k]] = TextOf(text)
		}
		var err *Error
		if ms, ok := x.zoned.Parse(text); ok && n.typ.IsTime() {
			values[i] = TimeValue(ms)
		} else if first == 0 {
			err = b.read(n, text)
		} else {
			err = b.readNow(n, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// derive evaluates the expressions for what is seen, without columns that were not sent.
func (x *fixer) derive(lacking []*Node, first int) (keep bool, err *Error) {
	if len(lacking) == 0 {
		return x.evaluator.Derive(x.seen)
	}
	clear(x.unsent)
	for _, m := range lacking {
		m.each(func(field int) {
			if i := field - first; i >= 0 && i < len(x.unsent) {
				x.unsent[i] = true
			}
		})
	}
	return x.evaluator.DeriveUpdate(x.seen, x.unsent, x.lasting)
}

// asText returns a loosely read value as a fix's expressions see it.
func (b *Builder) asText(v Value, nested bool) Value {
	switch {
	case v.Type == TimeMS:
		return TextValue(inUTC(v.Int()))
	case v.Type == Date || v.Type == TimeUS || v.Type == TimeNS:
		return TextOf(appendInstant(nil, v))
	case v.Type == Nested && !nested && len(v.text) > 1 && v.text[0] == '"':
		return TextOf(b.batch.text(v.text))
	case v.Type == Nested:
		return TextOf(v.text)
	}
	return v
}

// asWritten returns a value as a text that parses as the value.
func asWritten(v Value) []byte {
	switch v.Type {
	case Int:
		return strconv.AppendInt(nil, v.Int(), 10)
	case Float:
		return strconv.AppendFloat(nil, v.Float(), 'g', -1, 64)
	case Bool:
		return strconv.AppendBool(nil, v.Bool())
	case TimeMS:
		return []byte(inUTC(v.Int()))
	}
	return v.Text()
}

func inUTC(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999Z07:00") }
