package term

import (
	"io"
	"strings"
)

// Table prints rows of texts, with each column as wide as its widest text.
type Table struct {
	Out io.Writer

	rows   [][]string
	colour map[int]func(string) string // of the last text of a row, if it has one
}

// Row adds a row. It escapes what a terminal acts on.
func (t *Table) Row(texts ...string) {
	row := make([]string, len(texts))
	for i, text := range texts {
		row[i] = Line(text)
	}
	t.rows = append(t.rows, row)
}

// Painted adds a row whose last text has a colour.
func (t *Table) Painted(colour func(string) string, texts ...string) {
	if t.colour == nil {
		t.colour = map[int]func(string) string{}
	}
	t.colour[len(t.rows)] = colour
	t.Row(texts...)
}

// Flush prints the rows.
func (t *Table) Flush() {
	widths := t.widths()
	for n, row := range t.rows {
		var line strings.Builder
		for i, text := range row {
			switch colour := t.colour[n]; {
			case i < len(row)-1:
				line.WriteString(text + strings.Repeat(" ", widths[i]-Width(text)+2))
			case colour != nil:
				line.WriteString(colour(text))
			default:
				line.WriteString(text)
			}
		}
		_ = Draw(t.Out, line.String()+"\n") // errors of output are ignored, as with fmt.Fprintln elsewhere
	}
	t.rows, t.colour = nil, nil
}

func (t *Table) widths() (widths []int) {
	for _, row := range t.rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(text))
		}
	}
	return widths
}
