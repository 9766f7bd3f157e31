package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of an encoded message. bytes is for nested messages, strings and bytes, varint for numbers.
type field struct {
	number protowire.Number
	typ    protowire.Type
	varint uint64
	bytes  []byte
}

func (f *field) is(n protowire.Number, t protowire.Type) bool { return f.number == n && f.typ == t }

// nextField decodes the first field of an encoded message and returns the rest. Fields of types that HBase does not use are skipped as a
// whole.
func nextField(b []byte) (f field, rest []byte, err error) {
	number, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return f, nil, fmt.Errorf("%w: %w", ErrMalformed, protowire.ParseError(n))
	}
	if number > protowire.MaxValidNumber {
		return f, nil, fmt.Errorf("%w: not a field number: %d", ErrMalformed, number)
	}
	f.number, f.typ = number, typ
	b = b[n:]
	switch typ {
	case protowire.VarintType:
		f.varint, n = protowire.ConsumeVarint(b)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	default:
		n = protowire.ConsumeFieldValue(number, typ, b)
	}
	if n < 0 {
		return f, nil, fmt.Errorf("%w: field %d: %w", ErrMalformed, number, protowire.ParseError(n))
	}
	return f, b[n:], nil
}
