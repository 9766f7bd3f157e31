package top

import (
	"fmt"
	"strings"

	"brine/internal/term"
)

// style is the style of a drawn line.
type style int

const (
	usual style = iota
	heading
	chosen
	warm // hot, waiting, or a problem
)

type drawnLine struct {
	text  string
	style style
}

// Print returns the whole snapshot as lines of text, without a cursor.
func (v *View) Print(snap Snapshot) (lines []string) {
	const columns, height = 400, 1 << 16
	v.snap, v.cursor = snap, -1
	for _, l := range v.draw(columns, height) {
		lines = append(lines, l.text)
	}
	return lines
}

// draw returns at most height lines of at most columns columns.
func (v *View) draw(columns, height int) []drawnLine {
	lines := v.lines()
	out := v.head(len(lines))
	room := max(1, height-len(out)-1)
	first := max(0, min(v.cursor-room/2, len(lines)-room))
	shown := lines[first:min(len(lines), first+room)]
	widths := v.widths(shown)
	out = append(out, drawnLine{v.titles(widths), heading})
	for i, l := range shown {
		look := usual
		switch {
		case first+i == v.cursor:
			look = chosen
		case l.hot:
			look = warm
		}
		out = append(out, drawnLine{v.row(l, widths), look})
	}
	for i := range out {
		out[i].text = term.Clip(term.Line(out[i].text), columns)
	}
	return out[:min(len(out), height)]
}

// head returns the lines above the list.
func (v *View) head(lines int) []drawnLine {
	out := []drawnLine{{text: v.title(lines)}}
	for _, p := range v.snap.Problems {
		out = append(out, drawnLine{p, warm})
	}
	if v.typing || v.filter != "" {
		out = append(out, drawnLine{text: "filter: " + v.filter + map[bool]string{true: "▏"}[v.typing]})
	}
	if v.help {
		out = append(out, drawnLine{text: helpText})
	}
	return out
}

func (v *View) title(lines int) string {
	t := fmt.Sprintf("brine top  %s  %s: %d", v.snap.At.Local().Format("15:04:05"), modes[v.mode].name, lines)
	for _, s := range []string{v.scope.table, v.scope.server} {
		if s != "" {
			t += " of " + s
		}
	}
	if n := len(v.snap.hot); n > 0 {
		t += fmt.Sprintf("  %d hot (h)", n)
	}
	if v.frozen {
		t += "  frozen (space)"
	}
	return t + "  ? for help"
}

func (v *View) titles(widths []int) string {
	var cells []string
	for i, c := range modes[v.mode].columns {
		title := c.title
		if sort := v.sorts[v.mode]; i == sort.column {
			title += map[bool]string{false: "▼", true: "▲"}[sort.reversed]
		}
		cells = append(cells, aligned(title, widths[i], c.number))
	}
	return strings.Join(cells, "  ")
}

func (v *View) row(l line, widths []int) string {
	var cells []string
	for i, c := range l.cells {
		cells = append(cells, aligned(cellText(c), widths[i], modes[v.mode].columns[i].number))
	}
	return strings.TrimRight(strings.Join(cells, "  "), " ")
}

// widths returns the widths of the columns. All but the last are limited.
func (v *View) widths(lines []line) []int {
	const most = 44
	m := &modes[v.mode]
	widths := make([]int, len(m.columns))
	for i, c := range m.columns {
		widths[i] = term.Width(c.title) + 1
		for _, l := range lines {
			widths[i] = max(widths[i], term.Width(cellText(l.cells[i])))
		}
		if i < len(m.columns)-1 {
			widths[i] = min(widths[i], most)
		}
	}
	return widths
}

// aligned pads or clips a text to a width.
func aligned(text string, columns int, right bool) string {
	text = term.Clip(text, columns)
	fill := strings.Repeat(" ", columns-term.Width(text))
	if right {
		return fill + text
	}
	return text + fill
}
