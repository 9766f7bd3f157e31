package event

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"time"
)

// Values of the types in this file keep exactly what a record holds: decimals to the last digit, bytes that are not text, and times finer
// than a millisecond.

// maxDigits is the most digits of a decimal, including its fraction. That many fit in 127 bits.
const maxDigits = 38

// DecimalValue returns a Decimal of a number in text form; false if it is not a number or has more than 38 digits.
func DecimalValue(number string) (Value, bool) {
	if !isNumber([]byte(number)) {
		return Value{}, false
	}
	digits, ok := appendDigits(nil, []byte(number))
	return Value{Type: Decimal, text: digits}, ok
}

// BytesValue returns a Bytes.
func BytesValue(p []byte) Value { return Value{Type: Bytes, text: p} }

// InstantValue returns a value of a type that counts since 1970: a Date of days, a TimeUS, a TimeNS, a TimeMS or an Int.
func InstantValue(t Type, count int64) Value { return Value{Type: t, bits: uint64(count)} }

// Owned returns the value with a copy of its text.
func (v Value) Owned() Value {
	if v.text != nil {
		v.text = append([]byte{}, v.text...)
	}
	return v
}

// Textual returns the text that people and documents see for a Decimal (its digits), a Bytes (base64), a Date (2013-01-31), a TimeUS or a
// TimeNS (RFC 3339, with all digits of its fraction). It returns false for other types.
func (v Value) Textual() (text string, ok bool) {
	switch v.Type {
	case Decimal:
		return string(v.text), true
	case Bytes:
		return base64.StdEncoding.EncodeToString(v.text), true
	case Date, TimeUS, TimeNS:
		return string(appendInstant(nil, v)), true
	}
	return "", false
}

// appendInstant appends a Date, TimeUS or TimeNS as in RFC 3339, or the count itself if its year is not within 0 to 9999.
func appendInstant(dst []byte, v Value) []byte {
	const firstDay, lastDay = -719528, 2932896 // 0000-01-01, 9999-12-31
	at, layout := time.Time{}, ""
	switch v.Type {
	case Date:
		if v.Int() < firstDay || v.Int() > lastDay {
			return strconv.AppendInt(dst, v.Int(), 10)
		}
		at, layout = time.Unix(v.Int()*daySeconds, 0), time.DateOnly
	case TimeUS:
		at, layout = time.UnixMicro(v.Int()), "2006-01-02T15:04:05.000000Z07:00"
	case TimeNS:
		at, layout = time.Unix(0, v.Int()), "2006-01-02T15:04:05.000000000Z07:00"
	}
	if at = at.UTC(); at.Year() < 0 || at.Year() > 9999 {
		return strconv.AppendInt(dst, v.Int(), 10)
	}
	return at.AppendFormat(dst, layout)
}

// Milliseconds returns the time of a TimeMS, TimeUS, TimeNS or Date, rounded down to the millisecond, or the number of an Int.
func (v Value) Milliseconds() int64 {
	if u := v.Type.unit(); u != 0 {
		ms, _ := u.in(Milliseconds, v.Int()) // only a huge Date would not fit, and Builder.Time makes none
		return ms
	}
	return v.Int()
}

// Instant returns the exact time of a TimeMS, TimeUS, TimeNS or Date.
func (v Value) Instant() time.Time {
	switch v.Type {
	case TimeUS:
		return time.UnixMicro(v.Int()).UTC()
	case TimeNS:
		return time.Unix(0, v.Int()).UTC()
	}
	return time.UnixMilli(v.Milliseconds()).UTC()
}

// unit returns what a type's values count; 0: they are not times.
func (t Type) unit() Unit {
	switch t {
	case TimeMS, TimeS, Time:
		return Milliseconds
	case TimeUS:
		return Microseconds
	case TimeNS:
		return Nanoseconds
	case Date:
		return Days
	}
	return 0
}

// TakesTimes reports whether fields of the type are times or dates.
func (t Type) TakesTimes() bool { return t.unit() != 0 }

// Orders reports whether a version can be made of fields of the type.
func (t Type) Orders() bool { return t == Int || t.TakesTimes() && t != Date }

// lengths are the lengths of the units in nanoseconds.
var lengths = [...]int64{Days: daySeconds * 1e9, Seconds: 1e9, Milliseconds: 1e6, Microseconds: 1e3, Nanoseconds: 1}

// in converts a count of units u to units to, rounded down; false if it does not fit in 64 bits.
func (u Unit) in(to Unit, count int64) (_ int64, ok bool) {
	if u == to {
		return count, true
	}
	if u == to+1 && to != Days {
		return floorDiv(count, 1000), true // by a constant, which is much faster
	}
	if lengths[u] < lengths[to] {
		return floorDiv(count, lengths[to]/lengths[u]), true
	}
	factor := lengths[u] / lengths[to]
	return count * factor, count <= math.MaxInt64/factor && count >= math.MinInt64/factor
}

// misfit returns the message that a time does not fit a field's type.
func (t Type) misfit() string {
	switch t {
	case TimeUS:
		return "the time does not fit 64 bits of microseconds"
	case TimeNS:
		return "the time does not fit 64 bits of nanoseconds"
	}
	return "the time does not fit 64 bits of milliseconds"
}

// Written reports whether records may hold values of the type as texts in its own form, besides any that `from: text` allows.
func (t Type) Written() bool { return t == Bytes || t == Date || t == TimeUS || t == TimeNS }

var rfc3339, _ = ParseTimeFormat(RFC3339, "")

// parseWritten sets v from a text in the type's own form: bytes in base64, a time in RFC 3339, a date. It makes room in b for bytes.
func (b *Batch) parseWritten(v *Value, t Type, text []byte) (detail string) {
	ok := false
	switch t {
	case Bytes:
		size := base64.StdEncoding.DecodedLen(len(text))
		b.room(size)
		start := len(b.texts)
		into := b.texts[start : start+size]
		size, err := base64.StdEncoding.Decode(into, text)
		if ok = err == nil && bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0; ok {
			b.texts = b.texts[:start+size]
			*v = Value{Type: Bytes, text: b.texts[start : start+size : start+size]}
		}
	default:
		var count int64
		if count, ok = parseInstant(t, text); ok {
			*v = InstantValue(t, count)
		}
	}
	if !ok {
		return expected[t] + " is expected, found " + Quoted(text)
	}
	return ""
}

// parseInstant parses a date, or a time in RFC 3339, as the count of the type.
func parseInstant(t Type, text []byte) (count int64, ok bool) {
	if t == Date && len(text) == len(time.DateOnly) {
		at, err := time.Parse(time.DateOnly, string(text))
		return at.Unix() / daySeconds, err == nil
	}
	ms, ok := rfc3339.Parse(text)
	if !ok {
		return 0, false
	}
	if t == Date {
		return Milliseconds.in(Days, ms)
	}
	below := belowMilliseconds(text) / lengths[t.unit()]
	if ms < 0 { // from its end, because the type's first time is within a millisecond whose beginning does not fit
		ms, below = ms+1, below-lengths[Milliseconds]/lengths[t.unit()]
	}
	if count, ok = Milliseconds.in(t.unit(), ms); !ok || below > 0 && count > math.MaxInt64-below || below < 0 && count < math.MinInt64-below {
		return 0, false
	}
	return count + below, true
}

// belowMilliseconds returns the nanoseconds beyond the milliseconds of a time in RFC 3339.
func belowMilliseconds(text []byte) (ns int64) {
	at := bytes.IndexAny(text, ".,")
	if at < 0 {
		return 0
	}
	scale := int64(1e8)
	for _, c := range text[at+1:] {
		if c < '0' || c > '9' || scale == 0 {
			break
		}
		if scale < 1e6 {
			ns += int64(c-'0') * scale
		}
		scale /= 10
	}
	return ns
}

// decimal sets a Decimal to a number as it is written.
func (b *Batch) decimal(v *Value, number []byte) (detail string) {
	b.room(2*maxDigits + len(number))
	start := len(b.texts)
	digits, ok := appendDigits(b.texts, number)
	if !ok {
		return "the decimal has more than 38 digits"
	}
	b.texts = digits
	*v = Value{Type: Decimal, text: digits[start:len(digits):len(digits)]}
	return ""
}

// appendDigits appends all digits of a valid number without an exponent: -0.050 for -5.0e-2. It keeps trailing zeros after the point, drops
// leading zeros, and never writes a negative zero. It returns false if there are more than 38 digits.
func appendDigits(dst, number []byte) (_ []byte, ok bool) {
	negative := number[0] == '-'
	if negative || number[0] == '+' {
		number = number[1:]
	}
	exponent := 0
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(string(bytes.TrimPrefix(number[i+1:], []byte("+")))); err != nil {
			return dst, false
		}
		number = number[:i]
	}
	whole, fraction, _ := bytes.Cut(number, []byte("."))
	var room [2 * maxDigits]byte
	digits, started := room[:0], false
	for _, part := range [2][]byte{whole, fraction} {
		for _, c := range part {
			if started = started || c != '0'; !started {
				continue
			}
			if len(digits) == maxDigits {
				return dst, false
			}
			digits = append(digits, c)
		}
	}
	if exponent > maxDigits+maxScale || exponent < -maxDigits-maxScale { // bounds the sums below
		return dst, false
	}
	scale := len(fraction) - exponent
	for ; scale < 0 && started; scale++ {
		if len(digits) == maxDigits {
			return dst, false
		}
		digits = append(digits, '0')
	}
	if scale = max(scale, 0); scale > maxScale {
		return dst, false
	}
	return placePoint(dst, digits, scale, negative && started), true
}

func zeros(number []byte) bool { return len(bytes.Trim(number, "0.")) == 0 }

// placePoint appends digits with a decimal point before the last scale of them.
func placePoint(dst, digits []byte, scale int, negative bool) []byte {
	if negative {
		dst = append(dst, '-')
	}
	whole := len(digits) - scale
	if whole <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[:whole]...)
	}
	if scale > 0 {
		dst = append(dst, '.')
		for ; whole < 0; whole++ {
			dst = append(dst, '0')
		}
		dst = append(dst, digits[whole:]...)
	}
	return dst
}

// appendBigDecimal appends a decimal's digits as Bytes.toBytes(BigDecimal) writes them: the scale in 4 bytes, then the digits without their
// point as the shortest two's complement.
func appendBigDecimal(dst, digits []byte) []byte {
	negative := len(digits) > 0 && digits[0] == '-'
	scale, high, low, point := uint32(0), uint64(0), uint64(0), false
	for _, c := range digits {
		switch {
		case c == '.':
			point = true
		case c != '-':
			if point {
				scale++
			}
			carry, product := bits.Mul64(low, 10)
			var over uint64
			low, over = bits.Add64(product, uint64(c-'0'), 0)
			high = high*10 + carry + over
		}
	}
	if negative {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	var all [16]byte
	binary.BigEndian.PutUint64(all[:8], high)
	binary.BigEndian.PutUint64(all[8:], low)
	return append(binary.BigEndian.AppendUint32(dst, scale), shortest(all[:])...)
}

// shortest strips a two's complement of bytes that repeat its sign.
func shortest(p []byte) []byte {
	for len(p) > 1 && (p[0] == 0 && p[1] < 0x80 || p[0] == 0xff && p[1] >= 0x80) {
		p = p[1:]
	}
	return p
}

// parseBigDecimal reads what appendBigDecimal wrote, and nothing else: each number has exactly one cell.
func parseBigDecimal(cell []byte) (Value, bool) {
	if len(cell) < 5 || len(shortest(cell[4:])) < len(cell)-4 { // longer than necessary
		return Value{}, false
	}
	scale := int32(binary.BigEndian.Uint32(cell))
	digits, ok := AppendDecimal(make([]byte, 0, len(cell)*3), cell[4:], int(scale))
	return Value{Type: Decimal, text: digits}, ok
}

// CompareDecimals compares two decimals as numbers: 1.5 and 1.50 are equal.
func CompareDecimals(a, b Value) int {
	na, wa, fa := parts3(a.text)
	nb, wb, fb := parts3(b.text)
	switch {
	case na && !nb:
		return -1
	case nb && !na:
		return 1
	}
	order := 0
	if order = len(wa) - len(wb); order == 0 {
		if order = bytes.Compare(wa, wb); order == 0 {
			order = bytes.Compare(bytes.TrimRight(fa, "0"), bytes.TrimRight(fb, "0"))
		}
	}
	if order = min(max(order, -1), 1); na {
		return -order
	}
	return order
}

// parts3 returns a decimal's sign, whole part and fraction. Zero has no sign.
func parts3(digits []byte) (negative bool, whole, fraction []byte) {
	digits, negative = bytes.CutPrefix(digits, []byte("-"))
	whole, fraction, _ = bytes.Cut(digits, []byte("."))
	return negative && !zeros(digits), whole, fraction
}
