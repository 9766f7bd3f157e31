package event

import (
	"fmt"

	"github.com/tinylib/msgp/msgp"
)

// Unpacker reads packed cells. It is not safe for concurrent use.
type Unpacker struct {
	pack  *Pack
	json  *Decoder // nil unless the pack is JSON
	batch Batch    // for json
}

// NewUnpacker returns an unpacker for a valid pack.
func NewUnpacker(p *Pack) *Unpacker {
	u := &Unpacker{pack: p}
	if p.Packing != JSON {
		return u
	}
	s := Schema{Version: -1}
	for _, f := range p.Fields {
		s.Fields = append(s.Fields, Field{Name: f.Name, Type: f.Type.Stored(), Path: []string{f.Name}})
	}
	u.json = NewDecoder(s)
	return u
}

// Unpack returns a value for each field of the pack, null if the cell lacks it; in an empty cell all are null. Texts may alias cell, and
// are UTF-8 only if brine wrote them.
func (u *Unpacker) Unpack(cell []byte) ([]Value, error) {
	if len(cell) == 0 {
		return make([]Value, len(u.pack.Fields)), nil
	}
	if u.json == nil {
		return u.messagePack(cell)
	}
	if err := u.json.Decode(&Record{Value: cell}, &u.batch); err != nil {
		return nil, fmt.Errorf("packed as JSON: %w", err)
	}
	values := u.batch.Events[0].Values
	u.batch.Events = u.batch.Events[:0] // the caller keeps its values: the next ones are cut after them
	return values, nil
}

func (u *Unpacker) messagePack(cell []byte) ([]Value, error) {
	n, rest, err := msgp.ReadMapHeaderBytes(cell)
	if err != nil {
		return nil, fmt.Errorf("packed as MessagePack: a map is expected: %w", err)
	}
	values := make([]Value, len(u.pack.Fields))
	seen := make([]bool, len(values))
	for range n {
		var name []byte
		if name, rest, err = msgp.ReadMapKeyZC(rest); err != nil {
			return nil, fmt.Errorf("packed as MessagePack: a name is expected %d bytes before the end: %w", len(rest), err)
		}
		i := u.find(name)
		switch {
		case i < 0:
			rest, err = msgp.Skip(rest)
		case seen[i]:
			err = fmt.Errorf("it occurs twice")
		default:
			seen[i] = true
			rest, err = readMessagePack(&values[i], u.pack.Fields[i].Type, rest)
		}
		if err != nil {
			return nil, fmt.Errorf("packed as MessagePack: %s: %w", name, err)
		}
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("packed as MessagePack: %d bytes follow the map", len(rest))
	}
	return values, nil
}

func (u *Unpacker) find(name []byte) int {
	for i := range u.pack.Fields {
		if u.pack.Fields[i].Name == string(name) {
			return i
		}
	}
	return -1
}

// readMessagePack reads one value of a field of type t. It accepts an integer for a float.
func readMessagePack(v *Value, t Type, b []byte) (rest []byte, err error) {
	kind := msgp.NextType(b)
	whole := kind == msgp.IntType || kind == msgp.UintType
	switch {
	case kind == msgp.NilType:
		return msgp.ReadNilBytes(b)
	case (t == Text || t == Nested) && kind == msgp.StrType:
		v.Type = t
		v.text, rest, err = msgp.ReadStringZC(b)
	case t == Decimal && kind == msgp.StrType:
		var text []byte
		if text, rest, err = msgp.ReadStringZC(b); err == nil {
			var ok bool
			if *v, ok = DecimalValue(string(text)); !ok {
				err = fmt.Errorf("a decimal is expected, found %s", Quoted(text))
			}
		}
	case t == Bytes && kind == msgp.BinType:
		v.Type = t
		v.text, rest, err = msgp.ReadBytesZC(b)
	case t == Bool && kind == msgp.BoolType:
		var is bool
		is, rest, err = msgp.ReadBoolBytes(b)
		*v = BoolValue(is)
	case t == Float && (kind == msgp.Float64Type || kind == msgp.Float32Type):
		var f float64
		f, rest, err = msgp.ReadFloat64Bytes(b)
		*v = FloatValue(f)
	case whole && (t == Float || t == Int || t.TakesTimes()):
		var i int64
		i, rest, err = msgp.ReadInt64Bytes(b)
		*v = wholeValue(t, i)
	default:
		return b, fmt.Errorf("%s is expected, found %s", expected[t.Stored()], kind)
	}
	return rest, err
}

func wholeValue(t Type, i int64) Value {
	switch t {
	case Int:
		return IntValue(i)
	case Float:
		return FloatValue(float64(i))
	}
	return InstantValue(t.Stored(), i)
}
