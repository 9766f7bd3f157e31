package rowkey

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// Value is the value of one field, to encode or as decoded. The zero Value is null.
type Value struct {
	Type Type
	Int  int64 // Int; Time in ms since 1970; Bool as 0 or 1; Float as IEEE 754 bits
	Text []byte
}

// TextValue returns a Text.
func TextValue(s string) Value { return Value{Type: Text, Text: []byte(s)} }

// IntValue returns an Int.
func IntValue(n int64) Value { return Value{Type: Int, Int: n} }

// FloatValue returns a Float.
func FloatValue(f float64) Value { return Value{Type: Float, Int: int64(math.Float64bits(f))} }

// BoolValue returns a Bool.
func BoolValue(b bool) Value {
	if b {
		return Value{Type: Bool, Int: 1}
	}
	return Value{Type: Bool}
}

// TimeValue returns a Time from milliseconds since 1970.
func TimeValue(ms int64) Value { return Value{Type: Time, Int: ms} }

// Null reports whether v has no value.
func (v Value) Null() bool { return v.Type == 0 }

// Float returns the number of a Float.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.Int)) }

// Equal reports whether v and w are the same value of the same type.
func (v Value) Equal(w Value) bool {
	return v.Type == w.Type && v.Int == w.Int && bytes.Equal(v.Text, w.Text)
}

// timeForm is the layout of times: RFC 3339 in UTC, to the millisecond.
const timeForm = "2006-01-02T15:04:05.000Z07:00"

// String formats v for people.
func (v Value) String() string {
	switch v.Type {
	case 0:
		return "null"
	case Time:
		if t := time.UnixMilli(v.Int).UTC(); t.Year() >= 0 && t.Year() <= 9999 {
			return t.Format(timeForm)
		}
		return strconv.FormatInt(v.Int, 10)
	}
	return string(appendText(nil, v))
}

// JSON returns v as encoding/json takes it, a time as String formats it; nil for null.
func (v Value) JSON() any {
	switch v.Type {
	case Text, Time:
		return v.String()
	case Int:
		return v.Int
	case Bool:
		return v.Int != 0
	case Float:
		return v.Float()
	}
	return nil
}

// appendText appends the text of v from which hashes and salts are computed: a text's own bytes, an int in decimal, a time as decimal
// milliseconds since 1970, a float in its shortest form, true or false.
func appendText(dst []byte, v Value) []byte {
	switch v.Type {
	case Text:
		return append(dst, v.Text...)
	case Int, Time:
		return strconv.AppendInt(dst, v.Int, 10)
	case Float:
		return strconv.AppendFloat(dst, v.Float(), 'g', -1, 64)
	case Bool:
		return strconv.AppendBool(dst, v.Int != 0)
	}
	return dst
}
