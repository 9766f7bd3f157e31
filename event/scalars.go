package event

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"
)

// Unit is what a binary format counts a time in, since 1970-01-01 UTC.
type Unit uint8

// The units of Avro's, Protobuf's and Debezium's times.
const (
	Days Unit = iota + 1
	Seconds
	Milliseconds
	Microseconds
	Nanoseconds
)

// first notes that the event has a field, which it did not have, and returns its value, which is null.
func (b *Builder) first(n *Node) *Value {
	n.seen, n.null = b.count, false
	return &b.values[n.field]
}

// The methods below set a field to what a binary format holds. Like JSON's reader, each accepts a type that holds the value without loss,
// and rejects any other. Bytes passed to them must last as long as the batch: those of the record do, and Keep copies others.

// Text sets a field to a string, which must be UTF-8.
func (b *Builder) Text(n *Node, text []byte) *Error {
	if n.direct == Text && n.seen != b.count && validText(text) {
		v := b.first(n)
		v.Type, v.text = Text, text
		return nil
	}
	return b.text(n, text)
}

// text is Text for nodes whose values need handling.
func (b *Builder) text(n *Node, text []byte) *Error {
	if err := b.have(n); err != nil {
		return err
	}
	switch {
	case n.column && isUnavailable(text):
		b.lacking = append(b.lacking, n)
		return nil
	case !utf8.Valid(text):
		return &Error{Reason: Undecodable, Field: n.path, Detail: "invalid UTF-8 in a string"}
	case n.convert != nil && n.convert.texts:
		return b.read(n, text)
	case n.field >= 0 && n.typ == Text:
		b.values[n.field] = TextOf(text)
	case n.field >= 0 && n.typ == Time:
		ms, ok := n.time.Parse(text)
		if !ok {
			return n.Wrong(Quoted(text))
		}
		b.values[n.field] = TimeValue(ms)
	case n.field >= 0 && (n.typ.Written() || n.typ == Decimal):
		return b.read(n, text)
	case n.field >= 0 && n.typ == Nested:
		var room [64]byte
		return b.json(n, appendQuoted(room[:0], text))
	default:
		return n.Wrong("a string")
	}
	return nil
}

// validText reports whether a text is UTF-8. It is fast if the text is all ASCII.
func validText(text []byte) bool {
	all, rest := uint64(0), text
	for ; len(rest) > 8; rest = rest[8:] {
		all |= binary.LittleEndian.Uint64(rest)
	}
	if len(text) >= 8 {
		all |= binary.LittleEndian.Uint64(text[len(text)-8:])
	} else {
		for _, c := range rest {
			all |= uint64(c)
		}
	}
	return all&topBits == 0 || utf8.Valid(text)
}

// Int sets a field to an integer.
func (b *Builder) Int(n *Node, i int64) *Error {
	if n.direct == Int && n.seen != b.count {
		v := b.first(n)
		v.Type, v.bits = Int, uint64(i)
		return nil
	}
	return b.int(n, i)
}

// int is Int for nodes whose values need handling.
func (b *Builder) int(n *Node, i int64) *Error {
	if err := b.have(n); err != nil {
		return err
	}
	var v Value
	switch {
	case n.field < 0:
		return n.Wrong("a number")
	case n.typ == Int:
		v = IntValue(i)
	case n.typ == Float:
		v = FloatValue(float64(i))
	case n.typ == TimeMS:
		v = TimeValue(i)
	case n.typ == TimeS:
		if i > math.MaxInt64/1000 || i < math.MinInt64/1000 {
			return &Error{Reason: WrongType, Field: n.path, Detail: "the time does not fit 64 bits of milliseconds"}
		}
		v = TimeValue(i * 1000)
	default:
		return b.number(n, strconv.AppendInt(b.digits[:0], i, 10))
	}
	b.values[n.field] = v
	return nil
}

// Uint sets a field to an unsigned integer.
func (b *Builder) Uint(n *Node, i uint64) *Error {
	if i <= math.MaxInt64 {
		return b.Int(n, int64(i))
	}
	if n.field >= 0 && n.typ == Float {
		return b.Float(n, float64(i))
	}
	if err := b.have(n); err != nil {
		return err
	}
	digits := strconv.AppendUint(b.digits[:0], i, 10)
	if n.field >= 0 && (n.typ == Int || n.typ.TakesTimes() && n.typ != Time) {
		return b.misread(n, tooWide, digits)
	}
	return b.number(n, digits)
}

// Float sets a field to a floating-point number.
func (b *Builder) Float(n *Node, f float64) *Error {
	if n.direct == Float && n.seen != b.count && f-f == 0 { // neither NaN nor infinite
		v := b.first(n)
		v.Type, v.bits = Float, math.Float64bits(f)
		return nil
	}
	return b.float(n, f)
}

// float is Float for nodes whose values need handling.
func (b *Builder) float(n *Node, f float64) *Error {
	if err := b.have(n); err != nil {
		return err
	}
	switch {
	case math.IsNaN(f):
		return n.Wrong("NaN")
	case math.IsInf(f, 0):
		return n.Wrong("infinity")
	case n.field < 0:
		return n.Wrong("a number")
	case n.typ == Float:
		b.values[n.field] = FloatValue(f)
		return nil
	case n.typ == Int || n.typ.TakesTimes() && n.typ != Time:
		return n.Wrong("a floating-point number")
	}
	return b.number(n, strconv.AppendFloat(b.digits[:0], f, 'g', -1, 64))
}

// Bool sets a field to a bool.
func (b *Builder) Bool(n *Node, truth bool) *Error {
	if n.direct == Bool && n.seen != b.count {
		v := b.first(n)
		if v.Type = Bool; truth {
			v.bits = 1
		}
		return nil
	}
	return b.bool(n, truth)
}

// bool is Bool for nodes whose values need handling.
func (b *Builder) bool(n *Node, truth bool) *Error {
	if err := b.have(n); err != nil {
		return err
	}
	switch {
	case n.field >= 0 && n.typ == Bool:
		b.values[n.field] = BoolValue(truth)
	case n.field >= 0 && n.typ == Nested:
		return b.json(n, strconv.AppendBool(nil, truth))
	case n.looksUp():
		return b.read(n, b.Keep(strconv.AppendBool(nil, truth)))
	default:
		return n.Wrong("a bool")
	}
	return nil
}

// Time sets a field to a time, whichever type of time is declared, or an Int to the count itself. It truncates what is finer than the type.
func (b *Builder) Time(n *Node, count int64, u Unit) *Error {
	if n.direct == TimeMS && u == Milliseconds && n.seen != b.count {
		v := b.first(n)
		v.Type, v.bits = TimeMS, uint64(count)
		return nil
	}
	return b.instant(n, count, u)
}

// instant is Time for nodes and units that need handling.
func (b *Builder) instant(n *Node, count int64, u Unit) *Error {
	t := cmp.Or(n.timed, n.typ)
	to := t.unit()
	if n.field < 0 || to == 0 {
		return b.Int(n, count)
	}
	if err := b.have(n); err != nil {
		return err
	}
	in, ok := u.in(to, count)
	if ok && t == Date {
		_, ok = Days.in(Milliseconds, in)
	}
	if !ok {
		return &Error{Reason: WrongType, Field: n.path, Detail: t.misfit()}
	}
	b.values[n.field] = InstantValue(t.Stored(), in)
	return nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Decimal sets a field to unscaled × 10^-scale, where unscaled is a big-endian two's complement: a Text to its exact digits.
func (b *Builder) Decimal(n *Node, unscaled []byte, scale int) *Error {
	if err := b.have(n); err != nil {
		return err
	}
	digits, ok := AppendDecimal(b.digits[:0], unscaled, scale)
	if !ok {
		return &Error{Reason: WrongType, Field: n.path, Detail: "the decimal has more than 38 digits"}
	}
	if n.field >= 0 && n.typ == Decimal {
		b.values[n.field] = Value{Type: Decimal, text: b.Keep(digits)}
		return nil
	}
	return b.number(n, digits)
}

const (
	maxDecimalBytes = 16 // 38 digits fit 127 bits
	maxScale        = 38
)

// AppendDecimal appends the digits of unscaled × 10^-scale, where unscaled is a big-endian two's complement. It returns false if there are
// more than 38 digits.
func AppendDecimal(dst, unscaled []byte, scale int) (_ []byte, ok bool) {
	negative := len(unscaled) > 0 && unscaled[0] >= 0x80
	if unscaled = shortest(unscaled); len(unscaled) > maxDecimalBytes || scale < 0 || scale > maxScale {
		return dst, false
	}
	var room [40]byte
	digits := room[:0]
	if len(unscaled) <= 8 {
		var u uint64
		for _, c := range unscaled {
			u = u<<8 | uint64(c)
		}
		if negative {
			u = -(u | ^uint64(0)<<(8*len(unscaled)))
		}
		digits = strconv.AppendUint(digits, u, 10)
	} else {
		i := new(big.Int).SetBytes(unscaled)
		if negative {
			i.Sub(i, new(big.Int).Lsh(big.NewInt(1), uint(8*len(unscaled))))
		}
		digits = i.Abs(i).Append(digits, 10)
	}
	if len(digits) > maxDigits {
		return dst, false
	}
	return placePoint(dst, digits, scale, negative), true
}

// Bytes sets a field to bytes, or a Text to their text if they are UTF-8.
func (b *Builder) Bytes(n *Node, p []byte) *Error {
	if n.field >= 0 && n.typ == Text && utf8.Valid(p) || n.column && isUnavailable(p) {
		return b.Text(n, p)
	}
	if err := b.have(n); err != nil {
		return err
	}
	switch {
	case n.field >= 0 && n.typ == Bytes:
		b.values[n.field] = BytesValue(p)
		return nil
	case n.loose:
		return b.json(n, appendQuoted(nil, base64.StdEncoding.AppendEncode(nil, p)))
	}
	return n.Wrong("bytes")
}

// JSON sets a Nested field to valid JSON.
func (b *Builder) JSON(n *Node, json []byte) *Error {
	if err := b.have(n); err != nil {
		return err
	}
	if b.Lacks(n, json) {
		return nil
	}
	return b.json(n, json)
}

func (b *Builder) json(n *Node, json []byte) *Error {
	if n.field < 0 || n.typ != Nested {
		return n.Wrong("JSON")
	}
	b.values[n.field] = Value{Type: Nested, text: b.Keep(json)}
	return nil
}

// number sets a field that holds numbers as they are written.
func (b *Builder) number(n *Node, digits []byte) *Error {
	switch {
	case n.field < 0:
		return n.Wrong("a number")
	case n.looksUp():
		return b.read(n, b.Keep(digits))
	case n.typ == Text && n.numbers:
		b.values[n.field] = TextOf(b.Keep(digits))
		return nil
	case n.typ == Nested:
		return b.json(n, digits)
	case n.typ == Time:
		ms, ok := n.time.Parse(digits)
		if !ok {
			return n.Wrong(Quoted(digits))
		}
		b.values[n.field] = TimeValue(ms)
		return nil
	}
	if detail := b.batch.parse(&b.values[n.field], n, '0', digits); detail != "" {
		return b.misread(n, detail, digits)
	}
	return nil
}
