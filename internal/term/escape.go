// Package term prints texts whose origin is not ours to a terminal, a file or a pipe, and holds the one formatter of each kind of
// number that people read: numbers, sizes, durations, rates, tables, colours, progress. What settings write, and read again, is
// formatted by config.
//
// The invariant: of a text that comes from a record, a server, a file or a command line, no byte that a terminal acts on is written:
// control characters, those of the C1 set among them, marks that turn the order of letters round, and what is no UTF-8. They are
// written as \xNN or \uNNNN, within which JSON stays JSON. What brine itself draws with is written by Draw.
package term

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Line is a text that stays within its line: what a terminal acts on is escaped, line breaks and tabs too.
func Line(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return acts(r) || r == utf8.RuneError }) < 0 {
		return text
	}
	return string(appendEscaped(nil, []byte(text), ""))
}

// acts reports whether a terminal does something on a character besides showing it.
func acts(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL and C1
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // embeddings, overrides and isolates of direction
	case r == 0x2028, r == 0x2029: // line and paragraph separators
	default:
		return false
	}
	return true
}

// appendEscaped appends a text, escaped but for the characters of keep.
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
		default: // never below, so that the texts of JSON stay what they are
			to = fmt.Appendf(to, `\u%04x`, r)
		}
		text = text[n:]
	}
	return to
}
