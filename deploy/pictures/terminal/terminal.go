// Package terminal draws what a program wrote to a terminal as SVG: text with the colors and styles of its escape sequences, as `tmux
// capture-pane -e` returns them. deploy/pictures calls it.
//
// The invariant: every letter is in its own column, whatever font the reader has. Each counts as one column wide.
package terminal

import (
	"strconv"
	"strings"
)

// style is the style of a letter.
type style struct {
	color                    string // "" is the terminal's default
	bold, underline, reverse bool
}

// run is a run of letters in one style.
type run struct {
	style
	column int
	text   string
}

// parse splits text into lines of runs.
func parse(text string) (lines [][]run) {
	var now style
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		var runs []run
		column := 0
		for i, rest := range strings.Split(l, "\x1b[") {
			if i > 0 {
				codes, after, _ := strings.Cut(rest, "m")
				now, rest = now.with(codes), after
			}
			if rest != "" {
				runs = append(runs, run{now, column, rest})
				column += len([]rune(rest))
			}
		}
		lines = append(lines, runs)
	}
	return lines
}

// with applies the codes of one escape sequence; it ignores those that cannot be drawn.
func (s style) with(codes string) style {
	all := strings.Split(codes, ";")
	for i := 0; i < len(all); i++ {
		n, _ := strconv.Atoi(all[i]) // an empty code is 0
		switch {
		case n == 0:
			s = style{}
		case n == 1:
			s.bold = true
		case n == 22:
			s.bold = false
		case n == 4, n == 24:
			s.underline = n == 4
		case n == 7, n == 27:
			s.reverse = n == 7
		case n >= 30 && n < 38:
			s.color = colors[n-30]
		case n >= 90 && n < 98:
			s.color = colors[n-90]
		case n == 39:
			s.color = ""
		case n == 38 && i+2 < len(all) && all[i+1] == "5":
			if c, _ := strconv.Atoi(all[i+2]); c < 16 {
				s.color = colors[c%8]
			}
			i += 2
		}
	}
	return s
}

var colors = []string{"#6e7681", "#ff7b72", "#7ee787", "#f2cc60", "#79c0ff", "#d2a8ff", "#76e3ea", "#e6edf3"}
