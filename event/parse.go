package event

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// parse sets v from a scalar as a value of n's field. detail is empty, or describes what is wrong with it. raw is valid JSON of this kind
// that lives as long as the batch.
func (b *Batch) parse(v *Value, n *Node, kind jsontext.Kind, raw []byte) (detail string) {
	if n.texts && kind == '"' && n.typ != Text && n.typ != Time && !n.typ.Written() {
		return b.parseSaid(v, n, raw)
	}
	switch t := n.typ; {
	case t == Text && kind == '"':
		v.Type, v.text = Text, b.text(raw)
	case t == Text && kind == '0' && n.numbers:
		v.Type, v.text = Text, raw
	case t == Time:
		return b.parseTime(v, n.time, kind, raw)
	case t == Nested:
		v.Type, v.text = Nested, raw
	case t == Bool && (kind == 't' || kind == 'f'):
		*v = BoolValue(kind == 't')
	case kind == '"' && t.Written():
		return b.parseWritten(v, t, b.text(raw))
	case kind != '0' || t == Text || t == Bool || t == Bytes: // '0' is the kind of every number
		return expected[t] + " is expected, found " + kindName(kind)
	case t == Decimal:
		return b.decimal(v, raw)
	case t == Float:
		return parseFloat(v, raw)
	default:
		return parseInteger(v, t, raw)
	}
	return ""
}

// parseSaid sets v from a text.
func (b *Batch) parseSaid(v *Value, n *Node, raw []byte) (detail string) {
	text := b.text(raw)
	switch t := n.typ; {
	case t == Nested && jsontext.Value(text).IsValid():
		v.Type, v.text = Nested, text
	case t == Nested:
		v.Type, v.text = Nested, raw
	case t == Bool && (string(text) == "1" || string(text) == "true"):
		*v = BoolValue(true)
	case t == Bool && (string(text) == "0" || string(text) == "false"):
		*v = BoolValue(false)
	case t == Bool || !jsontext.Value(text).IsValid() || jsontext.Value(text).Kind() != '0':
		return expected[t] + " is expected, found " + Quoted(text)
	case t == Decimal:
		return b.decimal(v, text)
	case t == Float:
		return parseFloat(v, text)
	default:
		return parseInteger(v, t, text)
	}
	return ""
}

var expected = [...]string{Text: "a string", Int: "an integer", Float: "a number", Bool: "a bool",
	TimeMS: "a time in ms", TimeS: "a time in s", Nested: "JSON in a string", Decimal: "a decimal number", Bytes: "bytes in base64",
	Date: "a date as 2013-01-31, or days since 1970,", TimeUS: "a time in µs since 1970, or as 2013-01-31T08:00:00.000001Z,",
	TimeNS: "a time in ns since 1970, or as 2013-01-31T08:00:00.000000001Z,"}

// parseTime parses a time in a string, or a number as it is written.
func (b *Batch) parseTime(v *Value, f *TimeFormat, kind jsontext.Kind, raw []byte) (detail string) {
	switch kind {
	case '"':
		raw = b.text(raw)
	case '0':
	default:
		return f.Expects() + " is expected, found " + kindName(kind)
	}
	ms, ok := f.Parse(raw)
	if !ok {
		return f.Expects() + " is expected, found " + Quoted(raw)
	}
	*v = TimeValue(ms)
	return ""
}

// tooWide is what is wrong with an integer that no Int holds.
const tooWide = "the number does not fit 64 bits"

// misread handles a value that the node cannot hold, for the reason of the detail: raw is a number, or JSON. What is no more than a number
// past the end of a database's log rejects the event only when it ends, as any position that does not fit: records that an envelope leaves
// out have positions, too.
func (b *Builder) misread(n *Node, detail string, raw []byte) *Error {
	if detail == tooWide && n.beyond != nil {
		if raw[0] == '"' {
			raw = b.batch.text(raw)
		}
		if allDigits(raw) {
			b.refuse(n, n.beyond(raw))
			return nil
		}
	}
	return &Error{Reason: WrongType, Field: n.path, Detail: detail}
}

func parseInteger(v *Value, t Type, raw []byte) (detail string) {
	i, ok := shortInteger(raw)
	if !ok {
		var err error
		if i, err = strconv.ParseInt(string(raw), 10, 64); errors.Is(err, strconv.ErrRange) {
			return tooWide
		} else if err != nil {
			return expected[t] + " is expected, found a number with a fraction or an exponent"
		}
	}
	switch {
	case t == Int:
		*v = IntValue(i)
	case t == TimeMS:
		*v = TimeValue(i)
	case t == Date:
		if _, ok := Days.in(Milliseconds, i); !ok {
			return t.misfit()
		}
		*v = InstantValue(t, i)
	case t == TimeUS || t == TimeNS:
		*v = InstantValue(t, i)
	case i > math.MaxInt64/1000 || i < math.MinInt64/1000:
		return "the time does not fit 64 bits of milliseconds"
	default:
		*v = TimeValue(i * 1000)
	}
	return ""
}

// parseFloat sets v from a number.
func parseFloat(v *Value, raw []byte) (detail string) {
	f, ok := shortDecimal(raw)
	if !ok {
		var err error
		if f, err = strconv.ParseFloat(string(raw), 64); err != nil || f == 0 && !isZero(raw) {
			return "the number is out of range"
		}
	}
	*v = FloatValue(f)
	return ""
}

// isZero reports whether a number is zero as written, and not only too small for a float.
func isZero(raw []byte) bool {
	for _, c := range raw {
		switch {
		case c >= '1' && c <= '9':
			return false
		case c == 'e' || c == 'E':
			return true
		}
	}
	return true
}

// powers are the powers of ten that shortDecimal divides by.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}

// shortDecimal returns a JSON number that is written without an exponent and in at most 15 characters, faster than strconv and as strconv
// does for such numbers: its digits and its power of ten are exact as floats, so their quotient is the nearest float.
func shortDecimal(raw []byte) (f float64, ok bool) {
	if len(raw) > len(powers) {
		return 0, false
	}
	var digits int64
	places, fraction := 0, 0 // fraction is 1 after the point
	for i, c := range raw {
		switch {
		case c-'0' <= 9:
			digits = 10*digits + int64(c-'0')
			places += fraction
		case c == '.':
			fraction = 1
		case c != '-' || i > 0:
			return 0, false
		}
	}
	if f = float64(digits) / powers[places]; raw[0] == '-' {
		f = -f
	}
	return f, true
}

// shortInteger returns an integer of so few digits that it fits 64 bits, faster than strconv, which accepts other spellings of numbers too.
func shortInteger(raw []byte) (i int64, ok bool) {
	digits := raw
	if len(raw) > 0 && raw[0] == '-' {
		digits = raw[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		i = 10*i + int64(c)
	}
	if len(digits) < len(raw) {
		i = -i
	}
	return i, true
}

// text returns the text of a quoted string: the record's own bytes or, if it has escapes, a copy in the batch's buffer.
func (b *Batch) text(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	b.room(len(quoted))
	start := len(b.texts)
	b.texts = appendUnquoted(b.texts, quoted)
	return b.texts[start:len(b.texts):len(b.texts)]
}

// room makes room for n more bytes in the batch's buffer of texts.
func (b *Batch) room(n int) *Batch {
	if cap(b.texts)-len(b.texts) < n {
		b.texts = make([]byte, 0, max(2*cap(b.texts), 4*n, 4096)) // the full buffer stays with the values that point to it
	}
	return b
}

// appendQuoted appends a text as a JSON string.
func appendQuoted(dst, text []byte) []byte {
	dst, err := jsontext.AppendQuote(dst, text)
	if err != nil {
		panic("BUG: event: checked UTF-8 cannot be quoted: " + err.Error())
	}
	return dst
}

// appendUnquoted appends the text of a quoted string, which is never longer than the string with its quotes.
func appendUnquoted(dst, quoted []byte) []byte {
	dst, err := jsontext.AppendUnquote(dst, quoted)
	if err != nil {
		panic("BUG: event: a checked string cannot be unquoted: " + err.Error())
	}
	return dst
}

// cut takes n null values from the batch's buffer.
func (b *Batch) cut(n int) []Value {
	if cap(b.values)-len(b.values) < n {
		b.values = make([]Value, 0, max(2*cap(b.values), 64*n)) // the full buffer stays with the events that point to it
	}
	start := len(b.values)
	b.values = b.values[:start+n]
	return b.values[start : start+n : start+n]
}

// mark is how far a batch is filled.
type mark struct{ events, values, texts, capacity int }

func (b *Batch) mark() mark { return mark{len(b.Events), len(b.values), len(b.texts), cap(b.values)} }

// cutOff resets a batch to a mark, so that nothing of a rejected record remains.
func (b *Batch) cutOff(m mark) {
	clear(b.Events[m.events:])
	b.Events = b.Events[:m.events]
	if cap(b.values) != m.capacity { // a new buffer, which holds nothing older
		m.values = 0
	}
	clear(b.values[m.values:])
	b.values = b.values[:m.values]
	b.texts = b.texts[:min(m.texts, len(b.texts))]
}
