package display

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"brine/internal/term"
	"brine/skew"
)

// The size of a heat map in a terminal with 100 columns.
const (
	MapRanges  = 40
	MapColumns = 60
)

var shades = []rune(" ·░▒▓█")

// shade returns the character for a value from zero to most. Only zero is blank.
func shade(value, most float64) rune {
	if value <= 0 || most <= 0 {
		return shades[0]
	}
	return shades[max(1, int(math.Round(value/most*float64(len(shades)-1))))]
}

// Map draws time from left to right and keys from top to bottom, all ranges equally high, with the value of the darkest shade.
func Map(out io.Writer, table string, m skew.HeatMap) {
	if len(m.Times) == 0 {
		term.Println(out, "%s: no data yet", table)
		return
	}
	const layout = "15:04"
	term.Println(out, "%s: rows a second by key range and time, █ = %s", table, term.Thousands(int64(math.Ceil(m.Most))))
	width := 0
	starts := make([]string, len(m.Starts))
	for i, key := range m.Starts {
		starts[i] = term.Clip(key.Start(), 24)
		width = max(width, len([]rune(starts[i])))
	}
	most := make([]float64, len(m.Times)) // of each column
	for i, row := range m.Rows {
		var cells strings.Builder
		for j, value := range row {
			cells.WriteRune(shade(value, m.Most))
			most[j] += value
		}
		fmt.Fprintf(out, "  %-*s │%s│ %s\n", width, starts[i], cells.String(), term.Thousands(int64(slices.Max(row))))
	}
	largest := slices.Max(most)
	var sums strings.Builder
	for _, value := range most {
		sums.WriteRune(shade(value, largest))
	}
	fmt.Fprintf(out, "  %-*s │%s│ %s\n", width, "(all)", sums.String(), term.Thousands(int64(largest)))
	first, last := m.Times[0].Local().Format(layout), m.Times[len(m.Times)-1].Local().Format(layout)
	if gap := len(m.Times) - len(first) - len(last); gap > 0 {
		first += strings.Repeat(" ", gap)
	} else {
		first += "–"
	}
	fmt.Fprintf(out, "  %-*s  %s%s  until\n", width, "", first, last)
}
