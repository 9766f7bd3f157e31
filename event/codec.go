package event

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AppendValue appends the bytes that a cell holds for v, in the encodings of HBase's Bytes class:
//
//	Text     UTF-8
//	Nested   the JSON, as it stood in the record
//	Int      8 bytes, big-endian two's complement (Bytes.toBytes(long))
//	TimeMS   the same, in milliseconds since 1970
//	Float    8 bytes, big-endian IEEE 754 (Bytes.toBytes(double))
//	Decimal  the scale in 4 bytes, then the digits without their point as the shortest two's complement (Bytes.toBytes(BigDecimal))
//	Bytes    as they are
//	Date     as an Int, in days since 1970
//	TimeUS   as an Int, in microseconds since 1970
//	TimeNS   as an Int, in nanoseconds since 1970
//	Bool     1 byte, 0xFF or 0x00 (Bytes.toBytes(boolean))
//
// Null appends nothing: a null field has no cell, or the one of NullCell.
func AppendValue(dst []byte, v Value) []byte {
	switch v.Type {
	case Text, Nested, Bytes:
		return append(dst, v.text...)
	case Decimal:
		return appendBigDecimal(dst, v.text)
	case Int, TimeMS, TimeS, Time, Float, Date, TimeUS, TimeNS:
		return binary.BigEndian.AppendUint64(dst, v.bits)
	case Bool:
		if v.Bool() {
			return append(dst, 0xFF)
		}
		return append(dst, 0)
	}
	return dst
}

// nullText is the cell of a Text that is null. UTF-8 never has this byte; an empty cell is the empty text.
const nullText = "\xFF"

// NullCell returns the bytes of a cell that says that its field of type t is null. It is empty except for a Text. A Bytes has none, since
// any bytes are a value: ok is false.
func NullCell(t Type) (cell []byte, ok bool) {
	text, ok := nullCell(t)
	return []byte(text), ok
}

// nullCell is NullCell without a copy.
func nullCell(t Type) (cell string, ok bool) {
	if t == Text {
		return nullText, true
	}
	return "", t != Bytes
}

// ParseValue reads back what AppendValue or NullCell wrote for a field of type t. It reads every time as TimeMS, because that is what a
// cell holds. A Text, Nested or Bytes aliases cell, and is UTF-8 or JSON only if brine wrote it. Like HBase's Bytes, it takes any byte but
// 0 as true.
func ParseValue(t Type, cell []byte) (Value, error) {
	width := 8
	if null, ok := nullCell(t); ok && string(cell) == null {
		return Value{}, nil
	}
	switch t {
	case Text, Nested, Bytes:
		return Value{Type: t, text: cell}, nil
	case Decimal:
		v, ok := parseBigDecimal(cell)
		if !ok {
			return Value{}, fmt.Errorf("a decimal cell is a 4-byte scale and a number; this one has %d bytes and is not one", len(cell))
		}
		return v, nil
	case Bool:
		width = 1
	}
	if len(cell) != width {
		return Value{}, fmt.Errorf("a cell of type %s has %d bytes; this one has %d", t, width, len(cell))
	}
	switch t {
	case Int:
		return IntValue(int64(binary.BigEndian.Uint64(cell))), nil
	case Date, TimeUS, TimeNS:
		return InstantValue(t, int64(binary.BigEndian.Uint64(cell))), nil
	case TimeMS, TimeS, Time:
		return TimeValue(int64(binary.BigEndian.Uint64(cell))), nil
	case Float:
		return FloatValue(math.Float64frombits(binary.BigEndian.Uint64(cell))), nil
	case Bool:
		return BoolValue(cell[0] != 0), nil
	}
	return Value{}, fmt.Errorf("no such field type: %d", t)
}
