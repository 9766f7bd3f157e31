package event

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Case is the case that a text is converted to.
type Case string

// The cases of brine.yaml.
const (
	AnyCase Case = "" // as the record has it
	Upper   Case = "upper"
	Lower   Case = "lower"
)

// Conversion is applied to what a record holds before it is checked against the field's type, in the order of these fields. The zero
// Conversion changes nothing.
type Conversion struct {
	FromText bool              // also accept a text, and parse it as the field's type
	Trim     bool              // remove white space around a text
	Case     Case              // of a Text
	Enum     map[string]string // of a Text: maps what the record holds (if not a text, as it is written) to the field's text; nil: no table
	Else     string            // the text for values that Enum lacks; empty: they are rejected
}

func (c *Conversion) none() bool {
	return !c.FromText && !c.Trim && c.Case == AnyCase && c.Enum == nil
}

// validate checks a field's conversion against its type.
func (c *Conversion) validate(f Field) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("field %s "+format, append([]any{f.Name}, args...)...)
	}
	switch {
	case c.FromText && (f.Type == Text || f.Type == Nested || f.Type == Time || f.Type.Written()):
		return bad("is declared %s, which accepts text as is", f.Type)
	case c.Trim && f.Type == Nested:
		return bad("is declared json, which is never trimmed")
	case c.Case != AnyCase && c.Case != Upper && c.Case != Lower:
		return bad("has the case %q; write %s or %s", c.Case, Upper, Lower)
	case (c.Case != AnyCase || c.Enum != nil) && f.Type != Text:
		return bad("is declared %s; only a text has a case or a table of values", f.Type)
	case c.Enum != nil && len(c.Enum) == 0:
		return bad("has an empty table of values; fill it, or remove it")
	case c.Else != "" && c.Enum == nil:
		return bad("has a text for values that its table lacks, but no table")
	}
	for from := range c.Enum {
		if string(c.turned([]byte(from))) != from {
			return bad("is trimmed or converted to another case before it is looked up, so its table's %q never matches; write %q", from,
				c.turned([]byte(from)))
		}
	}
	return nil
}

// turned returns a text trimmed and in the right case.
func (c *Conversion) turned(text []byte) []byte {
	if c.Trim {
		text = bytes.TrimSpace(text)
	}
	switch c.Case {
	case Upper:
		return bytes.ToUpper(text)
	case Lower:
		return bytes.ToLower(text)
	default:
		return text
	}
}

// Turn returns a text as it is looked up.
func (c *Conversion) Turn(text string) string { return string(c.turned([]byte(text))) }

// conversion is a Conversion as a decoder applies it.
type conversion struct {
	Conversion
	texts bool // accept texts
	enum  map[string][]byte
	other []byte
}

func newConversion(f Field) *conversion {
	c := &conversion{Conversion: f.Convert, texts: f.Type == Text || f.Type == Time || f.Type.Written() || f.Convert.FromText}
	if c.none() {
		return nil
	}
	if c.Enum != nil {
		c.enum = map[string][]byte{}
		for from, to := range c.Enum {
			c.enum[from] = []byte(to)
		}
	}
	if c.Else != "" {
		c.other = []byte(c.Else)
	}
	return c
}

// looksUp reports whether a field's values are looked up in a table.
func (n *Node) looksUp() bool { return n.convert != nil && n.convert.enum != nil }

// Parse sets a field from a text, for formats that hold nothing but texts, so that numbers and times are texts too.
func (b *Builder) Parse(n *Node, text []byte) *Error {
	if err := b.have(n); err != nil {
		return err
	}
	switch {
	case n.column && isUnavailable(text):
		b.lacking = append(b.lacking, n)
		return nil
	case n.field < 0:
		return n.Wrong("a string")
	case !utf8.Valid(text):
		return &Error{Reason: Undecodable, Field: n.path, Detail: "invalid UTF-8 in a text"}
	}
	return b.read(n, text)
}

// convert sets a field that has a conversion from a JSON value.
func (b *Builder) convert(n *Node, kind jsontext.Kind, raw []byte) *Error {
	switch scalar := kind == '0' || kind == 't' || kind == 'f'; {
	case kind == '"' && (n.convert.texts || n.texts):
		return b.read(n, b.batch.text(raw))
	case scalar && n.looksUp():
		return b.read(n, raw)
	}
	if detail := b.batch.parse(&b.values[n.field], n, kind, raw); detail != "" {
		return b.misread(n, detail, raw)
	}
	return nil
}

// refusal is the error of a field's conversion, of a field beside the record's value, or of a position past 64 bits, for an event that may
// yet be left out.
type refusal struct {
	node *Node
	err  *Error
}

// read sets a field from a text, which is UTF-8 and lasts as long as the batch. What the field's conversion refuses rejects the event only
// when it ends: an envelope's own fields, such as its kind of change, are also in records that it leaves out.
func (b *Builder) read(n *Node, text []byte) *Error {
	err := b.readNow(n, text)
	if n.convert != nil {
		b.refuse(n, err)
		return nil
	}
	return err
}

// refuse keeps an error, if it is one, until the event ends.
func (b *Builder) refuse(n *Node, err *Error) {
	if err != nil {
		b.refused = append(b.refused, refusal{n, err})
	}
}

// readNow is read that rejects at once.
func (b *Builder) readNow(n *Node, text []byte) *Error {
	if n.raw > 0 {
		b.values[n.raw] = TextOf(text)
	}
	if c := n.convert; c != nil {
		text = c.turned(text)
		if c.enum != nil {
			to, ok := c.enum[string(text)]
			if !ok && c.other == nil {
				return &Error{Reason: WrongType, Field: n.path, Detail: Quoted(text) + " is not in the table of its values"}
			}
			if text = to; !ok {
				text = c.other
			}
		}
	}
	switch n.typ {
	case Text:
		b.values[n.field] = TextOf(text)
	case Time:
		ms, ok := n.time.Parse(text)
		if !ok {
			return n.Wrong(Quoted(text))
		}
		b.values[n.field] = TimeValue(ms)
	case Bool:
		switch string(text) {
		case "true", "1":
			b.values[n.field] = BoolValue(true)
		case "false", "0":
			b.values[n.field] = BoolValue(false)
		default:
			return n.Wrong(Quoted(text))
		}
	case Nested:
		if n.loose {
			b.values[n.field] = Value{Type: Nested, text: b.Keep(appendQuoted(nil, text))}
			return nil
		}
		text = bytes.Trim(text, " \t\r\n")
		if !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) {
			return n.Wrong(Quoted(text))
		}
		b.values[n.field] = Value{Type: Nested, text: text}
	case Bytes, Date, TimeUS, TimeNS:
		if n.typ != Bytes && isNumber(text) {
			return b.number(n, bytes.TrimPrefix(text, []byte("+")))
		}
		if detail := b.batch.parseWritten(&b.values[n.field], n.typ, text); detail != "" {
			return &Error{Reason: WrongType, Field: n.path, Detail: detail}
		}
	default:
		if !isNumber(text) {
			return n.Wrong(Quoted(text))
		}
		return b.number(n, bytes.TrimPrefix(text, []byte("+")))
	}
	return nil
}

// isNumber reports whether a text is a decimal number (12, -1.50, +3, 1e6, .5), but not infinity, NaN, or a number in another base.
func isNumber(text []byte) bool {
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	mantissa, exponent, hasExponent := text, []byte(nil), false
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent, hasExponent = text[:i], text[i+1:], true
	}
	if hasExponent && len(exponent) > 0 && (exponent[0] == '+' || exponent[0] == '-') {
		exponent = exponent[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	return len(whole)+len(fraction) > 0 && allDigits(whole) && allDigits(fraction) &&
		(!hasExponent || len(exponent) > 0 && allDigits(exponent))
}

func allDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// ValueOf returns the value that a text stands for in the field, after any conversion. It is for texts in the schema itself.
func (f Field) ValueOf(text string) (Value, error) {
	f.Convert = Conversion{}
	n := &Node{path: f.Name}
	n.hold(0, f)
	b := Builder{batch: new(Batch), values: make([]Value, 1), count: 1}
	if err := b.Parse(n, []byte(text)); err != nil {
		return Value{}, err
	}
	return b.values[0], nil
}
