package rowkey

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// number is an integer, float, bool or time whose bytes sort as its values do, or in reverse. Every value has an ordinal from 0 to top, in
// ascending order; the key holds the ordinal, or top minus it if desc:
//
//	int      n + 2^(bits−1)             top = 2^bits − 1         so desc is MAX − n, asc flips the sign bit
//	float    the bits, all flipped when negative, else the sign  top = 2^bits − 1
//	bool     0 or 1                     top = 1
//	time     its count of units         top = 2^(bits−1) − 1     so desc is MAX_LONG − ms for ms in 64 bits
//	digits   n                          top = 2^(bits−1) − 1, or 10^width − 1 for fixed
//
// It is written big-endian in bits/8 bytes, or as zero-padded decimal digits.
type number struct {
	field
	form string // the function that made it: asc, desc or fixed
	desc bool
	unit *unit  // for a time
	bits int    // 8, 16, 32 or 64
	n    int    // width in bytes
	text bool   // decimal digits
	top  uint64 // the greatest ordinal
}

// unit is a unit of time: a time of ms is ms × mul ÷ div units, rounded down.
type unit struct {
	name     string
	mul, div int64
	says     string
}

var milliseconds = &unit{"ms", 1, 1, "milliseconds"}

var units = []*unit{
	{"us", 1000, 1, "microseconds"},
	milliseconds,
	{"s", 1, 1000, "seconds"},
	{"min", 1, 60_000, "minutes"},
	{"hour", 1, 3_600_000, "hours"},
	{"day", 1, 86_400_000, "days"},
}

func (n *number) width() int     { return n.n }
func (n *number) reads() []field { return []field{n.field} }

func (n *number) expr() string {
	args := []string{n.name}
	if n.form == "fixed" {
		return fmt.Sprintf("fixed(%s, %d)", n.name, n.n)
	}
	if n.unit != nil {
		args = append(args, n.unit.name)
	}
	if n.bits != 64 && n.typ != Bool {
		args = append(args, fmt.Sprint(n.bits))
	}
	if n.text {
		args = append(args, "text")
	}
	return n.form + "(" + strings.Join(args, ", ") + ")"
}

func (n *number) doc() string {
	what, order := n.name, "in ascending order"
	if n.unit != nil {
		what, order = n.unit.says+" since 1970 of "+n.name, "oldest first"
	}
	if n.desc {
		max := fmt.Sprintf("2^%d − 1", n.bits-1)
		if n.typ == Float || n.typ == Bool {
			max = "the greatest"
		}
		what, order = max+" − "+what, "in descending order"
		if n.unit != nil {
			order = "newest first"
		}
	}
	if n.text {
		return fmt.Sprintf("%s in %s: %s", what, count(n.n, "decimal digit"), order)
	}
	if n.n == 1 {
		return what + " in 1 byte: " + order
	}
	return fmt.Sprintf("%s in %d bytes, big-endian: %s", what, n.n, order)
}

func (n *number) append(dst []byte, values []Value) ([]byte, error) {
	v, err := n.of(values)
	if err != nil {
		return dst, err
	}
	o, where := n.place(v.Int)
	if where != 0 {
		return dst, n.noPlace(v.Int, where)
	}
	return n.appendOrdinal(dst, o), nil
}

// noPlace returns the error for a value that has no ordinal.
func (n *number) noPlace(x int64, where int) error {
	v := Value{Type: n.typ, Int: x}
	switch {
	case n.isNaN(x):
		return n.refuse("is not a number")
	case n.unit != nil && where < 0:
		return n.refuse("is before 1970 (%s), which the key does not hold", v)
	case n.unit != nil:
		return n.refuse("is later (%s) than %s holds", v, n.expr())
	}
	return n.refuse("%s is out of the range of %s", v, n.expr())
}

// place returns the ordinal of a value's Int if where is 0. Otherwise the value lies below (−1) or above (+1) all values that have one.
func (n *number) place(x int64) (o uint64, where int) {
	switch {
	case n.unit != nil:
		return n.placeTime(x)
	case n.typ == Float:
		return n.placeFloat(math.Float64frombits(uint64(x)))
	case n.typ == Bool:
		return uint64(x) & 1, 0
	case n.text:
		if x < 0 {
			return 0, -1
		}
		o = uint64(x)
	default:
		bias := int64(1) << (n.bits - 1) // for 64 bits this is MinInt64, and every value is in range
		if n.bits < 64 && x < -bias {
			return 0, -1
		}
		o = uint64(x) + uint64(bias)
	}
	if o > n.top {
		return 0, 1
	}
	return o, 0
}

// placeFloat returns the ordinal of f. NaN has none, nor does a value that rounds to an infinity in 32 bits.
func (n *number) placeFloat(f float64) (o uint64, where int) {
	switch infinite := n.bits == 32 && math.IsInf(float64(float32(f)), 0) && !math.IsInf(f, 0); {
	case math.IsNaN(f) || infinite && f < 0:
		return 0, -1
	case infinite:
		return 0, 1
	}
	return floatOrdinal(f, n.bits), 0
}

func (n *number) placeTime(ms int64) (o uint64, where int) {
	if ms < 0 {
		return 0, -1
	}
	if n.unit.mul > 1 { // spares milliseconds the divisions, which dominate the cost
		if ms > math.MaxInt64/n.unit.mul {
			return 0, 1
		}
		ms *= n.unit.mul
	}
	if n.unit.div > 1 {
		ms /= n.unit.div
	}
	if o = uint64(ms); o > n.top {
		return 0, 1
	}
	return o, 0
}

func (n *number) appendOrdinal(dst []byte, o uint64) []byte {
	if n.desc {
		o = n.top - o
	}
	if n.text {
		var digits [20]byte
		for i := n.n - 1; i >= 0; i-- {
			digits[i] = byte('0' + o%10)
			o /= 10
		}
		return append(dst, digits[:n.n]...)
	}
	switch n.n {
	case 8:
		return binary.BigEndian.AppendUint64(dst, o)
	case 4:
		return binary.BigEndian.AppendUint32(dst, uint32(o))
	case 2:
		return binary.BigEndian.AppendUint16(dst, uint16(o))
	}
	return append(dst, byte(o))
}

func (n *number) measure(row []byte) (int, error) { return measureFixed(row, n.n) }

func (n *number) verify(b []byte, values []Value) error {
	var buf [20]byte
	again, err := n.append(buf[:0], values)
	if err == nil && !bytes.Equal(again, b) {
		err = errDisagrees
	}
	return err
}

func (n *number) decode(b []byte, values []Value) error {
	var o uint64
	switch {
	case n.text:
		var err error
		if o, err = parseDigits(b); err != nil {
			return err
		}
	case len(b) == 8:
		o = binary.BigEndian.Uint64(b)
	default:
		for _, c := range b {
			o = o<<8 | uint64(c)
		}
	}
	if o > n.top {
		return fmt.Errorf("%s is more than its greatest value", Binary(b))
	}
	if n.desc {
		o = n.top - o
	}
	x, err := n.value(o)
	values[n.pos] = Value{Type: n.typ, Int: x}
	return err
}

// value returns the Int of the value with ordinal o.
func (n *number) value(o uint64) (int64, error) {
	switch {
	case n.unit != nil:
		return n.unit.ms(int64(o))
	case n.typ == Float:
		f := floatOf(o, n.bits)
		if math.IsNaN(f) {
			return 0, errors.New("is not a number")
		}
		return int64(math.Float64bits(f)), nil
	case n.typ == Bool, n.text:
		return int64(o), nil
	}
	return int64(o - 1<<(n.bits-1)), nil
}

// round returns v as it is read back.
func (n *number) round(_ *field, v Value) (Value, error) {
	o, where := n.place(v.Int)
	if where != 0 {
		return Value{}, n.noPlace(v.Int, where)
	}
	x, err := n.value(o)
	return Value{Type: n.typ, Int: x}, err
}

// ms returns the time at which a count of units begins.
func (u *unit) ms(count int64) (int64, error) {
	if u.div > 1 {
		if count > math.MaxInt64/u.div {
			return 0, fmt.Errorf("%d %s since 1970 is not a time", count, u.says)
		}
		count *= u.div
	}
	if u.mul > 1 {
		if count%u.mul != 0 {
			return 0, fmt.Errorf("%d %s since 1970 is not a whole millisecond", count, u.says)
		}
		count /= u.mul
	}
	return count, nil
}

// floatOrdinal orders floats as integers: IEEE 754 bits sort as sign and magnitude, so all bits of negatives are flipped, and the others
// get the sign bit set. −0 comes right before 0.
func floatOrdinal(f float64, bits int) uint64 {
	if bits == 32 {
		b := math.Float32bits(float32(f))
		if b>>31 != 0 {
			return uint64(^b)
		}
		return uint64(b | 1<<31)
	}
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

func floatOf(o uint64, bits int) float64 {
	if bits == 32 {
		b := uint32(o)
		if b>>31 != 0 {
			return float64(math.Float32frombits(b &^ (1 << 31)))
		}
		return float64(math.Float32frombits(^b))
	}
	if o>>63 != 0 {
		return math.Float64frombits(o &^ (1 << 63))
	}
	return math.Float64frombits(^o)
}
