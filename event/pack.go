package event

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tinylib/msgp/msgp"
)

// Packing is the format of a packed cell.
type Packing string

// The packings of brine.yaml.
const (
	MessagePack Packing = "msgpack"
	JSON        Packing = "json"
)

// Pack is how several fields share one cell: as a map from names to values, without null fields. The order of the names is irrelevant, and
// readers ignore names that they do not know.
type Pack struct {
	Packing Packing
	Fields  []PackedField
}

// PackedField is one field of a pack.
type PackedField struct {
	Name  string // in the cell
	Field string // of the event
	Type  Type   // of the field
}

// Validate reports the first fault of the pack.
func (p *Pack) Validate() error {
	if p.Packing != MessagePack && p.Packing != JSON {
		return fmt.Errorf("no packing %q; write %s or %s", p.Packing, MessagePack, JSON)
	}
	if len(p.Fields) == 0 {
		return fmt.Errorf("no field is packed; name one")
	}
	names := map[string]bool{}
	for _, f := range p.Fields {
		switch {
		case f.Name == "":
			return fmt.Errorf("field %s has no name in the cell", f.Field)
		case names[f.Name]:
			return fmt.Errorf("two fields are called %s in the cell; rename one", f.Name)
		case !f.Type.known():
			return fmt.Errorf("field %s has no type; write one of %s", f.Field, strings.Join(typeNames[1:], ", "))
		}
		names[f.Name] = true
	}
	return nil
}

// Packer writes packed cells from events of one schema. It is safe for concurrent use.
type Packer struct {
	packing Packing
	fields  []packerField
}

type packerField struct {
	name []byte // encoded as in the cell
	pos  int    // in the schema
}

// NewPacker binds a pack to the schema of the events.
func NewPacker(p *Pack, s Schema) (*Packer, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	out := &Packer{packing: p.Packing}
	for _, f := range p.Fields {
		pos := s.position(f.Field)
		switch {
		case pos < 0:
			return nil, fmt.Errorf("field %q is not declared; add it to fields", f.Field)
		case s.Fields[pos].Type != f.Type:
			return nil, fmt.Errorf("field %s is declared %s but packed as %s; use the same type", f.Field, s.Fields[pos].Type, f.Type)
		}
		name := msgp.AppendString(nil, f.Name)
		if p.Packing == JSON {
			quoted, err := jsontext.AppendQuote(nil, f.Name)
			if err != nil {
				return nil, fmt.Errorf("name %q is not UTF-8", f.Name)
			}
			name = append(quoted, ':')
		}
		out.fields = append(out.fields, packerField{name, pos})
	}
	return out, nil
}

// Append appends the cell of an event's values to dst, or nothing if all its fields are null. It does not allocate if dst has room.
func (p *Packer) Append(dst []byte, values []Value) []byte {
	n := 0
	for i := range p.fields {
		if !values[p.fields[i].pos].Null() {
			n++
		}
	}
	switch {
	case n == 0:
		return dst
	case p.packing == JSON:
		return p.appendJSON(dst, values)
	}
	dst = msgp.AppendMapHeader(dst, uint32(n))
	for i := range p.fields {
		f := &p.fields[i]
		if v := values[f.pos]; !v.Null() {
			dst = appendMessagePack(append(dst, f.name...), v)
		}
	}
	return dst
}

// appendMessagePack appends v in the smallest form that holds it exactly. Times and dates are their integer counts; JSON and decimals are
// texts.
func appendMessagePack(dst []byte, v Value) []byte {
	switch v.Type {
	case Text, Nested, Decimal:
		return msgp.AppendStringFromBytes(dst, v.text)
	case Bytes:
		return msgp.AppendBytes(dst, v.text)
	case Float:
		return msgp.AppendFloat(dst, v.Float())
	case Bool:
		return msgp.AppendBool(dst, v.Bool())
	}
	return msgp.AppendInt64(dst, v.Int())
}

func (p *Packer) appendJSON(dst []byte, values []Value) []byte {
	separator := byte('{')
	for i := range p.fields {
		f := &p.fields[i]
		if v := values[f.pos]; !v.Null() {
			dst = appendJSON(append(append(dst, separator), f.name...), v)
			separator = ','
		}
	}
	return append(dst, '}')
}

func appendJSON(dst []byte, v Value) []byte {
	switch v.Type {
	case Text:
		dst, err := jsontext.AppendQuote(dst, v.text)
		if err != nil {
			panic("BUG: event: a checked text is not UTF-8: " + err.Error())
		}
		return dst
	case Nested, Decimal:
		return append(dst, v.text...)
	case Bytes:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), v.text)
		return append(dst, '"')
	case Float:
		if f := v.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.AppendFloat(dst, f, 'g', -1, 64)
		}
		return append(dst, "null"...) // JSON has no such number
	case Bool:
		return strconv.AppendBool(dst, v.Bool())
	}
	return strconv.AppendInt(dst, v.Int(), 10)
}
