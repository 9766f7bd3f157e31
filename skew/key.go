package skew

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Key is a row key. Its text is what HBase's shell prints: printable ASCII as it is, any other byte and the backslash as \xHH.
type Key []byte

// MarshalText implements encoding.TextMarshaler.
func (k Key) MarshalText() ([]byte, error) {
	text := make([]byte, 0, len(k))
	for _, b := range k {
		if b >= ' ' && b <= '~' && b != '\\' {
			text = append(text, b)
		} else {
			text = fmt.Appendf(text, `\x%02X`, b)
		}
	}
	return text, nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Key) UnmarshalText(text []byte) error {
	*k = (*k)[:0]
	for len(text) > 0 {
		if text[0] != '\\' {
			*k, text = append(*k, text[0]), text[1:]
			continue
		}
		if len(text) < 4 || text[1] != 'x' {
			return fmt.Errorf(`row key: no \xHH at %q`, text)
		}
		b, err := strconv.ParseUint(string(text[2:4]), 16, 8)
		if err != nil {
			return fmt.Errorf(`row key: no \xHH at %q`, text)
		}
		*k, text = append(*k, byte(b)), text[4:]
	}
	return nil
}

func (k Key) String() string {
	text, _ := k.MarshalText() // never fails
	return string(text)
}

// Start returns the key as the start of a region, which is empty for the first region of a table.
func (k Key) Start() string {
	if len(k) == 0 {
		return "(first)"
	}
	return k.String()
}

// Printable returns text as it is, but with everything else (control characters, bytes that are not UTF-8) escaped as in Key. So what is
// read from records cannot harm a terminal.
func Printable(text []byte) string {
	if !utf8.Valid(text) || bytes.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return Key(text).String()
	}
	return string(text)
}
