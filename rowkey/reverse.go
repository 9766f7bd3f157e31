package rowkey

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// reversedText is a text of any length, from its last character to its first, or from its last label to its first.
type reversedText struct {
	field
	labels string // the string that divides labels; empty to reverse characters
	sep    []byte // as in text
}

func (r *reversedText) width() int     { return 0 }
func (r *reversedText) reads() []field { return []field{r.field} }

func (r *reversedText) expr() string {
	if r.labels != "" {
		return fmt.Sprintf("reverse(%s, %q)", r.name, r.labels)
	}
	return "reverse(" + r.name + ")"
}

func (r *reversedText) doc() string {
	if r.labels != "" {
		return fmt.Sprintf("the labels of %s between %q, last one first: in the order of the last label, then the one before it", r.name,
			r.labels)
	}
	return "the characters of " + r.name + ", last one first: spreads texts that differ at the end, in no order of the field"
}

func (r *reversedText) append(dst []byte, values []Value) ([]byte, error) {
	v, err := r.of(values)
	if err != nil {
		return dst, err
	}
	if r.labels == "" && !utf8.Valid(v.Text) {
		return dst, r.refuse("is not UTF-8, but the key reverses its characters")
	}
	row := r.appendReversed(dst, v.Text)
	if holdsSeparator(row[len(dst):], r.sep) {
		return dst, r.separatorError(r.sep)
	}
	return row, nil
}

// appendReversed is its own inverse.
func (r *reversedText) appendReversed(dst, b []byte) []byte {
	if r.labels == "" {
		for len(b) > 0 {
			_, n := utf8.DecodeLastRune(b)
			dst = append(dst, b[len(b)-n:]...)
			b = b[:len(b)-n]
		}
		return dst
	}
	labels := bytes.Split(b, []byte(r.labels))
	for i, label := range slices.Backward(labels) {
		dst = append(dst, label...)
		if i > 0 {
			dst = append(dst, r.labels...)
		}
	}
	return dst
}

func (r *reversedText) measure(row []byte) (int, error)       { return measureUntil(row, r.sep) }
func (r *reversedText) verify(b []byte, values []Value) error { return verifyAgain(r, b, values) }

func (r *reversedText) decode(b []byte, values []Value) error {
	if r.labels == "" && !utf8.Valid(b) {
		return errors.New("is not UTF-8, but the key reverses its characters")
	}
	values[r.pos] = Value{Type: Text, Text: r.appendReversed(make([]byte, 0, len(b)), b)}
	return nil
}

// reversedInt is the decimal digits of a non-negative integer, last one first: of any length, or in a fixed number of digits with the
// missing leading zeros at the end.
type reversedInt struct {
	field
	digits int    // 0 = any length
	sep    []byte // as in text
}

func (r *reversedInt) width() int     { return r.digits }
func (r *reversedInt) reads() []field { return []field{r.field} }

func (r *reversedInt) expr() string {
	if r.digits > 0 {
		return fmt.Sprintf("reverse(%s, %d)", r.name, r.digits)
	}
	return "reverse(" + r.name + ")"
}

func (r *reversedInt) doc() string {
	length := ""
	if r.digits > 0 {
		length = fmt.Sprintf("%d ", r.digits)
	}
	return "the " + length + "decimal digits of " + r.name + ", last one first: spreads counted numbers, in no order of the field"
}

func (r *reversedInt) append(dst []byte, values []Value) ([]byte, error) {
	v, err := r.of(values)
	if err != nil {
		return dst, err
	}
	if v.Int < 0 {
		return dst, r.refuse("is negative, but the key holds only digits")
	}
	row := strconv.AppendInt(dst, v.Int, 10)
	n := len(row) - len(dst)
	if r.digits > 0 && n > r.digits {
		return dst, r.refuse("has %d digits, but the key holds %d", n, r.digits)
	}
	slices.Reverse(row[len(dst):])
	if holdsSeparator(row[len(dst):], r.sep) {
		return dst, r.separatorError(r.sep)
	}
	return appendPad(row, '0', r.digits-n), nil
}

func (r *reversedInt) measure(row []byte) (int, error) {
	if r.digits > 0 {
		return measureFixed(row, r.digits)
	}
	return measureUntil(row, r.sep)
}

func (r *reversedInt) verify(b []byte, values []Value) error { return verifyAgain(r, b, values) }

func (r *reversedInt) decode(b []byte, values []Value) error {
	digits := slices.Clone(b)
	slices.Reverse(digits)
	n, err := parseDigits(digits)
	if err != nil {
		return err
	}
	if r.digits == 0 && len(digits) > 1 && digits[0] == '0' {
		return fmt.Errorf("%s reversed begins with 0, as no number does", Binary(b))
	}
	values[r.pos] = Value{Type: Int, Int: int64(n)}
	return nil
}

// parseDigits parses a non-negative decimal number that fits in 63 bits.
func parseDigits(b []byte) (uint64, error) {
	n := uint64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%s is not all digits", Binary(clip(b)))
		}
		digit := uint64(c - '0')
		if n > (math.MaxInt64-digit)/10 {
			return 0, fmt.Errorf("%s is not a 64-bit number", Binary(clip(b)))
		}
		n = 10*n + digit
	}
	if len(b) == 0 {
		return 0, errors.New("has no digits")
	}
	return n, nil
}
