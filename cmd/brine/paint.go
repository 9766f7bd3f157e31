package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// paint colours texts, on a terminal whose user has not asked for none (NO_COLOR, https://no-color.org).
type paint bool

func newPaint(e *env) paint {
	if none, ok := e.getenv("NO_COLOR"); ok && none != "" {
		return false
	}
	term, _ := e.getenv("TERM")
	return paint(isTerminal(e.stdout) && term != "dumb")
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p paint) red(text string) string  { return p.wrap("31", text) }
func (p paint) blue(text string) string { return p.wrap("34", text) }

func (p paint) wrap(colour, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// wrapped prints a text behind an indent: on a terminal in lines of at most 100 columns, else in one, which is easier to search.
func wrapped(out io.Writer, indent, text string) {
	line := indent
	for _, word := range strings.Fields(text) {
		if line != indent && isTerminal(out) && width(line)+1+width(word) > 100 {
			fmt.Fprintln(out, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(out, line)
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
