package term

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	xterm "golang.org/x/term"
)

// Width returns the width of a text in terminal columns: two for a Chinese, Japanese or Korean character, one for any other.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n++
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r < 0x3040 ||
			r >= 0xff01 && r < 0xff61 {
			n++
		}
	}
	return n
}

// Clip shortens a text to at most the given number of terminal columns, with "…" at the cut.
func Clip(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	n := 1 // for the ellipsis
	for i, r := range text {
		if n += Width(string(r)); n > columns {
			return text[:i] + "…"
		}
	}
	return text
}

// Println prints a line that stays one line whatever texts of records and servers are in it.
func Println(out io.Writer, format string, args ...any) {
	fmt.Fprintln(out, Line(fmt.Sprintf(format, args...)))
}

// Wrapped prints a text after a head. On a terminal it breaks the text into lines no wider than the terminal and than 100 columns, and
// aligns further lines with the first; elsewhere it prints one line, which is easier to search.
func Wrapped(out io.Writer, head, text string) {
	text = Line(text)
	columns := 0
	if f, ok := File(out); ok {
		columns, _, _ = xterm.GetSize(int(f.Fd())) // 0: not a terminal
	}
	if columns == 0 {
		fmt.Fprintln(out, head+text)
		return
	}
	for _, line := range wrap(head, text, min(columns, 100)) {
		fmt.Fprintln(out, line)
	}
}

// wrap breaks a text between words into lines of at most the given number of columns; a wider word gets a line of its own.
func wrap(head, text string, columns int) (lines []string) {
	words := strings.Split(text, " ")
	line := head + words[0]
	for _, word := range words[1:] {
		if Width(line)+1+Width(word) > columns {
			lines = append(lines, line)
			line = strings.Repeat(" ", Width(head)) + word
		} else {
			line += " " + word
		}
	}
	return append(lines, line)
}
