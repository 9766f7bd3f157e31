package rowkey

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SyntaxError is a mistake in a key expression.
type SyntaxError struct {
	Offset int    // byte offset in the expression
	Msg    string // what is wrong
	Fix    string // what to write instead
	Field  string // the field that a function does not take, for its type; empty if the mistake is another
	Rule   string // the rule of Lint that describes the mistake, ambiguous or random; empty if there is none
}

func syntaxError(offset int, msg, fix string) *SyntaxError {
	return &SyntaxError{Offset: offset, Msg: msg, Fix: fix}
}

func (e *SyntaxError) Error() string { return e.Msg + "; " + e.Fix }

// Advice returns the fix, which also ends the error's text.
func (e *SyntaxError) Advice() string { return e.Fix }

// ValueError is a value that the key cannot hold.
type ValueError struct {
	Field   string
	Missing bool // the value is null
	TooLong bool // the key would exceed HBase's 32,767 bytes
	Msg     string
}

func (e *ValueError) Error() string { return "key field " + e.Field + ": " + e.Msg }

// DecodeError is a row that no values encode to.
type DecodeError struct {
	Row    []byte
	Offset int    // of the part that does not fit, in Row
	Part   string // that part, such as desc(at, ms); empty if the error concerns the whole row
	Msg    string
}

func (e *DecodeError) Error() string {
	where := ""
	if e.Part != "" {
		where = fmt.Sprintf("at byte %d, %s: ", e.Offset, e.Part)
	}
	return "row " + Binary(clip(e.Row)) + ": " + where + e.Msg
}

// UsageError reports that the key cannot serve a request.
type UsageError struct {
	Field string // the field that is missing or wrongly bound; empty if no field is
	Msg   string
	Fix   string
}

func (e *UsageError) Error() string { return e.Msg + "; " + e.Fix }

// Advice returns the fix, which also ends the error's text.
func (e *UsageError) Advice() string { return e.Fix }

func countError(want, got int) error {
	return &ValueError{Field: "(all)", Msg: fmt.Sprintf("the key needs %d values, got %d", want, got)}
}

// lengthError blames the longest text for a key that is too long or empty.
func (k *Key) lengthError(n int, values []Value) error {
	longest := k.fields[0]
	for _, f := range k.fields {
		if len(values[f.pos].Text) > len(values[longest.pos].Text) {
			longest = f
		}
	}
	if n == 0 {
		return &ValueError{Field: longest.name, Msg: "is empty, and so would the row key be"}
	}
	return &ValueError{Field: longest.name, TooLong: true, Msg: fmt.Sprintf("the row key would have %d bytes, but HBase allows %d", n, MaxRow)}
}

// Binary formats a row as HBase's shell does: printable ASCII as it is, other bytes and the backslash as \xNN.
func Binary(row []byte) string { return string(AppendBinary(nil, row)) }

// AppendBinary appends a row as Binary formats it.
func AppendBinary(dst, row []byte) []byte {
	const digits = "0123456789ABCDEF"
	dst = slices.Grow(dst, len(row))
	for _, c := range row {
		if c >= ' ' && c <= '~' && c != '\\' {
			dst = append(dst, c)
		} else {
			dst = append(dst, '\\', 'x', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

// ParseBinary parses a row as Binary formats it; any other text stands for its own bytes.
func ParseBinary(s string) ([]byte, error) {
	var out []byte
	for s != "" {
		rest, ok := strings.CutPrefix(s, `\x`)
		if !ok {
			out, s = append(out, s[0]), s[1:]
			continue
		}
		if len(rest) < 2 {
			return nil, fmt.Errorf(`%q ends within an escape: write \x and two hex digits`, s)
		}
		b, err := strconv.ParseUint(rest[:2], 16, 8)
		if err != nil {
			return nil, fmt.Errorf(`%q is not an escape: write \x and two hex digits`, `\x`+rest[:2])
		}
		out, s = append(out, byte(b)), rest[2:]
	}
	return slices.Clip(out), nil
}

// clip shortens a long row for an error.
func clip(row []byte) []byte {
	const most = 120
	if len(row) <= most {
		return row
	}
	return append(row[:most:most], "..."...)
}

// count formats a number of things.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
