package main

import (
	"fmt"
	"strings"

	"brine/internal/term"
)

// topStyle is how a line of the picture looks.
type topStyle int

const (
	usual topStyle = iota
	heading
	chosen
	warm // hot, or waiting
)

type drawnLine struct {
	text  string
	style topStyle
}

// draw returns the picture in so many columns and lines.
func (v *topView) draw(columns, height int) []drawnLine {
	lines := v.lines()
	m := &topModes[v.mode]
	out := []drawnLine{{text: v.title(len(lines))}}
	for _, p := range v.snap.problems {
		out = append(out, drawnLine{p, warm})
	}
	if v.typing || v.filter != "" {
		out = append(out, drawnLine{text: "filter: " + v.filter + map[bool]string{true: "▏"}[v.typing]})
	}
	if v.help {
		out = append(out, drawnLine{text: topHelp})
	}
	room := max(1, height-len(out)-1)
	first := max(0, min(v.cursor-room/2, len(lines)-room))
	shown := lines[first:min(len(lines), first+room)]
	widths := v.widths(shown)
	var titles []string
	for i, c := range m.columns {
		title := c.title
		if i == v.sorts[v.mode].column {
			title += map[bool]string{false: "▼", true: "▲"}[v.sorts[v.mode].reverse]
		}
		titles = append(titles, aligned(title, widths[i], c.number))
	}
	out = append(out, drawnLine{strings.Join(titles, "  "), heading})
	for i, l := range shown {
		var cells []string
		for j, c := range l.cells {
			cells = append(cells, aligned(topText(c), widths[j], m.columns[j].number))
		}
		style := usual
		switch {
		case first+i == v.cursor:
			style = chosen
		case l.hot:
			style = warm
		}
		out = append(out, drawnLine{strings.TrimRight(strings.Join(cells, "  "), " "), style})
	}
	for i := range out {
		out[i].text = clip(term.Line(out[i].text), columns)
	}
	return out[:min(len(out), height)]
}

func (v *topView) title(lines int) string {
	t := fmt.Sprintf("brine top  %s  %s: %d", v.snap.at.Local().Format("15:04:05"), topModes[v.mode].name, lines)
	for _, s := range []string{v.scope.table, v.scope.server} {
		if s != "" {
			t += " of " + s
		}
	}
	if n := len(v.snap.hot); n > 0 {
		t += fmt.Sprintf("  %d hot (h)", n)
	}
	if v.stopped {
		t += "  stands still (space)"
	}
	return t + "  ? for help"
}

// widths are those of the columns. One that is much wider than others is cut.
func (v *topView) widths(lines []topLine) []int {
	const most = 44
	m := &topModes[v.mode]
	widths := make([]int, len(m.columns))
	for i, c := range m.columns {
		widths[i] = width(c.title) + 1
		for _, l := range lines {
			widths[i] = max(widths[i], width(topText(l.cells[i])))
		}
		if i < len(m.columns)-1 {
			widths[i] = min(widths[i], most)
		}
	}
	return widths
}

// aligned fills a text up to a width, or cuts it: numbers to the right.
func aligned(text string, columns int, right bool) string {
	text = clip(text, columns)
	fill := strings.Repeat(" ", columns-width(text))
	if right {
		return fill + text
	}
	return text + fill
}
