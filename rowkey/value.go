package rowkey

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Value is one field's value for encoding, or as decoded. The zero Value is null.
type Value struct {
	Type Type
	Int  int64 // Int; Time in ms since 1970; Bool as 0 or 1; Float as IEEE 754 bits
	Text []byte
}

// TextValue makes a Text.
func TextValue(s string) Value { return Value{Type: Text, Text: []byte(s)} }

// IntValue makes an Int.
func IntValue(n int64) Value { return Value{Type: Int, Int: n} }

// FloatValue makes a Float.
func FloatValue(f float64) Value { return Value{Type: Float, Int: int64(math.Float64bits(f))} }

// BoolValue makes a Bool.
func BoolValue(b bool) Value {
	if b {
		return Value{Type: Bool, Int: 1}
	}
	return Value{Type: Bool}
}

// TimeValue makes a Time from milliseconds since 1970.
func TimeValue(ms int64) Value { return Value{Type: Time, Int: ms} }

// Null reports whether v is no value.
func (v Value) Null() bool { return v.Type == 0 }

// Float is the number of a Float.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.Int)) }

// Equal reports whether v and w are the same value of the same type.
func (v Value) Equal(w Value) bool {
	return v.Type == w.Type && v.Int == w.Int && bytes.Equal(v.Text, w.Text)
}

// timeForm is how times are shown and read: RFC 3339 in UTC, to the millisecond.
const timeForm = "2006-01-02T15:04:05.000Z07:00"

// String shows v to people; ParseValue reads it back.
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

// ParseValue reads what a person wrote for a field of type t: a text as it is, a number, true or false, a time as RFC 3339
// or as milliseconds since 1970.
func ParseValue(t Type, s string) (Value, error) {
	switch t {
	case Text:
		return TextValue(s), nil
	case Int:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return IntValue(n), nil
		}
	case Float:
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return FloatValue(f), nil
		}
	case Bool:
		if s == "true" || s == "false" {
			return BoolValue(s == "true"), nil
		}
	case Time:
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			return TimeValue(at.UnixMilli()), nil
		}
		if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
			return TimeValue(ms), nil
		}
		return Value{}, fmt.Errorf("%q is no time; write 2013-01-31T23:59:59.000Z or milliseconds since 1970", s)
	}
	return Value{}, fmt.Errorf("%q is no %s", s, t)
}

// appendText appends the text of v, which hashes and salts are taken of: a text's own bytes, an int in decimal, a time as
// decimal milliseconds since 1970, a float in its shortest form, true or false.
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
