package testenv

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Protobuf encodes a message without a schema from alternating field numbers and values. A value is a
// number, a text, or a message.
func Protobuf(fields ...any) (out []byte) {
	for i := 0; i < len(fields); i += 2 {
		number := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			out = protowire.AppendVarint(protowire.AppendTag(out, number, protowire.VarintType), uint64(v))
		case int32:
			out = protowire.AppendVarint(protowire.AppendTag(out, number, protowire.VarintType), uint64(int64(v)))
		case int64:
			out = protowire.AppendVarint(protowire.AppendTag(out, number, protowire.VarintType), uint64(v))
		case float32:
			out = protowire.AppendFixed32(protowire.AppendTag(out, number, protowire.Fixed32Type), math.Float32bits(v))
		case float64:
			out = protowire.AppendFixed64(protowire.AppendTag(out, number, protowire.Fixed64Type), math.Float64bits(v))
		case string:
			out = protowire.AppendString(protowire.AppendTag(out, number, protowire.BytesType), v)
		case []byte:
			out = protowire.AppendBytes(protowire.AppendTag(out, number, protowire.BytesType), v)
		default:
			panic(fmt.Sprintf("field %d is a %T", number, v))
		}
	}
	return out
}
