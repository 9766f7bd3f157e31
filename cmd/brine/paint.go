package main

import (
	"fmt"
	"io"
	"strings"

	xterm "golang.org/x/term"

	"brine/internal/term"
)

// paint colours texts for term.Draw, on a terminal whose user has not asked for none (NO_COLOR, https://no-color.org).
type paint bool

func newPaint(e *env) paint {
	if none, ok := e.getenv("NO_COLOR"); ok && none != "" {
		return false
	}
	kind, _ := e.getenv("TERM")
	return paint(isTerminal(e.stdout) && kind != "dumb")
}

func isTerminal(stream any) bool {
	f, ok := term.File(stream)
	return ok && xterm.IsTerminal(int(f.Fd()))
}

func (p paint) red(text string) string  { return p.wrap("31", text) }
func (p paint) blue(text string) string { return p.wrap("34", text) }

func (p paint) wrap(colour, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// wrapped prints a text behind a head: on a terminal in lines that are no wider than it and than 100 columns, those that follow as
// far in as the first; else in one line, which is easier to search.
func wrapped(out io.Writer, head, text string) {
	text = term.Line(text)
	columns := 0
	if f, ok := term.File(out); ok {
		columns, _, _ = xterm.GetSize(int(f.Fd())) // 0: it is no terminal
	}
	if columns == 0 {
		fmt.Fprintln(out, head+text)
		return
	}
	for _, line := range wrap(head, text, min(columns, 100)) {
		fmt.Fprintln(out, line)
	}
}

// wrap breaks a text between words into lines of so many columns; a word that is wider has a line of its own.
func wrap(head, text string, columns int) (lines []string) {
	words := strings.Split(text, " ")
	line := head + words[0]
	for _, word := range words[1:] {
		if width(line)+1+width(word) > columns {
			lines = append(lines, line)
			line = strings.Repeat(" ", width(head)) + word
		} else {
			line += " " + word
		}
	}
	return append(lines, line)
}

// clip shortens a text to so many columns of a terminal.
func clip(text string, columns int) string {
	if width(text) <= columns {
		return text
	}
	n := 1 // for the dots
	for i, r := range text {
		if n += width(string(r)); n > columns {
			return text[:i] + "…"
		}
	}
	return text
}
