// Package term prints texts of foreign origin to a terminal, a file or a pipe, and has the only formatter of each kind of number that
// people read: numbers, sizes, durations, rates, tables, colours, progress. Package config formats what settings write and read again.
//
// The invariant: of a text from a record, a server, a file or a command line, no byte that a terminal acts on is written: no control
// characters, including the C1 set, no marks that change the direction of text, and nothing that is not UTF-8. They are written as \xNN or
// \uNNNN, with which JSON stays JSON. Draw writes what brine draws itself.
package term

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Line returns a text that stays within its line: it escapes everything that a terminal acts on, including line breaks and tabs.
func Line(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return acts(r) || r == utf8.RuneError }) < 0 {
		return text
	}
	return string(appendEscaped(nil, []byte(text), ""))
}

// acts reports whether a terminal does anything with a character besides showing it.
func acts(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL and C1
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // embeddings, overrides and isolates of text direction
	case r == 0x2028, r == 0x2029: // line and paragraph separators
	default:
		return false
	}
	return true
}

// appendEscaped appends a text, escaped except for the characters in keep.
func appendEscaped(to, text []byte, keep string) []byte {
	for len(text) > 0 {
		plain := 0
		for plain < len(text) && text[plain] >= ' ' && text[plain] < 0x7f {
			plain++
		}
		to, text = append(to, text[:plain]...), text[plain:]
		if len(text) == 0 {
			break
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			to = fmt.Appendf(to, `\x%02x`, text[0])
		case !acts(r) || strings.ContainsRune(keep, r):
			to = append(to, text[:n]...)
		case r == '\n':
			to = append(to, `\n`...)
		case r == '\t':
			to = append(to, `\t`...)
		case r < ' ':
			to = fmt.Appendf(to, `\x%02x`, r)
		default: // never below, so that texts in JSON keep their meaning
			to = fmt.Appendf(to, `\u%04x`, r)
		}
		text = text[n:]
	}
	return to
}
