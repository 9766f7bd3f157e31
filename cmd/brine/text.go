package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"brine/internal/term"
)

// thousands writes a number with a comma before every three digits.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count is a number of things: 1 row, 2,000 rows.
func count(n int, one string) string {
	if n != 1 {
		one += "s"
	}
	return thousands(int64(n)) + " " + one
}

// bar draws a share against the largest one.
func bar(share, largest float64) string {
	const width = 30
	if largest <= 0 {
		return ""
	}
	return strings.Repeat("█", int(share/largest*width+0.5))
}

// start shows where a region begins.
func start(key string) string {
	if key == "" {
		return "(first)"
	}
	return key
}

// printLine prints a line that stays one, whatever the texts of records and servers in it.
func printLine(out io.Writer, format string, args ...any) {
	fmt.Fprintln(out, term.Line(fmt.Sprintf(format, args...)))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// columns prints rows of texts, each column as wide as its widest text. A terminal shows a Chinese character two columns wide.
type columns struct {
	out    io.Writer
	rows   [][]string
	colour map[int]func(string) string // of the last text of a row, where it has one
}

func (c *columns) row(texts []string) {
	for i, text := range texts {
		texts[i] = term.Line(text)
	}
	c.rows = append(c.rows, texts)
}

// painted adds a row whose last text has a colour.
func (c *columns) painted(texts []string, colour func(string) string) {
	if c.colour == nil {
		c.colour = map[int]func(string) string{}
	}
	c.colour[len(c.rows)] = colour
	c.row(texts)
}

// flush prints the rows.
func (c *columns) flush() {
	var widths []int
	for _, row := range c.rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(text))
		}
	}
	for n, row := range c.rows {
		var line strings.Builder
		for i, text := range row {
			switch colour := c.colour[n]; {
			case i < len(row)-1:
				line.WriteString(text + strings.Repeat(" ", widths[i]-width(text)+2))
			case colour != nil:
				line.WriteString(colour(text))
			default:
				line.WriteString(text)
			}
		}
		_ = term.Draw(c.out, line.String()+"\n") // as with fmt.Fprintln elsewhere, nobody asks whether it could be printed
	}
	c.rows, c.colour = nil, nil
}

func width(text string) int {
	n := 0
	for _, r := range text {
		n++
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r < 0x3040 || r >= 0xff01 && r < 0xff61 {
			n++
		}
	}
	return n
}
