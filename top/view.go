package top

import (
	"cmp"
	"fmt"
	"slices"

	"brine/internal/term"
)

// View is what is shown of a snapshot, and how. Keys change it; drawing does not. It is not safe for concurrent use.
type View struct {
	snap   Snapshot
	mode   int
	sorts  []sorting // by mode
	scope  scope
	filter string
	typing bool // the filter is being typed
	cursor int
	help   bool
	frozen bool // new snapshots are not shown
}

type sorting struct {
	column   int
	reversed bool // opposite to the natural order: numbers from the largest, texts from A
}

// NewView returns a view of the mode with a key (p, t, r, s, k or h), with the lines that match a filter such as "ROWS/S>1000 TABLE=scans".
func NewView(mode, filter string) *View {
	v := &View{filter: filter}
	for _, m := range modes {
		v.sorts = append(v.sorts, sorting{column: m.sort})
	}
	v.show(mode)
	return v
}

const helpText = "p t r s k h: what to list   ← →: sort by   R: reverse   /: filter   enter: open   esc: back   space: freeze   q: quit"

// press handles a key, and reports whether it quits.
func (v *View) press(key string) (quit bool) {
	if v.typing {
		v.typeKey(key)
		return key == "ctrl+c"
	}
	columns := len(modes[v.mode].columns)
	sort := &v.sorts[v.mode]
	switch key {
	case "q", "ctrl+c":
		return true
	case "up":
		v.cursor--
	case "down":
		v.cursor++
	case "pgup":
		v.cursor -= 10
	case "pgdn":
		v.cursor += 10
	case "left":
		sort.column = (sort.column + columns - 1) % columns
	case "right":
		sort.column = (sort.column + 1) % columns
	case "R":
		sort.reversed = !sort.reversed
	case "/":
		v.typing = true
	case "?":
		v.help = !v.help
	case "space":
		v.frozen = !v.frozen
	case "esc":
		v.filter, v.scope = "", scope{}
	case "enter":
		v.open()
	default:
		v.show(key)
	}
	v.cursor = min(max(v.cursor, 0), max(0, len(v.lines())-1))
	return false
}

// show changes to the mode with a key.
func (v *View) show(key string) {
	if i := slices.IndexFunc(modes, func(m mode) bool { return m.key == key }); i >= 0 {
		v.mode, v.cursor = i, 0
	}
}

func (v *View) typeKey(key string) {
	switch runes := []rune(v.filter); {
	case key == "enter":
		v.typing = false
	case key == "esc":
		v.typing, v.filter = false, ""
	case key == "backspace" && len(runes) > 0:
		v.filter = string(runes[:len(runes)-1])
	case key == "space":
		v.filter += " "
	case len([]rune(key)) == 1:
		v.filter += key
	}
	v.cursor = 0
}

// open shows what the line under the cursor consists of.
func (v *View) open() {
	lines := v.lines()
	if v.cursor >= len(lines) || modes[v.mode].drill == "" {
		return
	}
	of := lines[v.cursor].scope
	v.scope = scope{cmp.Or(of.table, v.scope.table), cmp.Or(of.server, v.scope.server)}
	v.filter = ""
	v.show(modes[v.mode].drill)
}

// lines returns the lines within scope and filter, sorted.
func (v *View) lines() []line {
	m := &modes[v.mode]
	keep := parseFilter(v.filter, m.columns)
	lines := slices.DeleteFunc(m.lines(&v.snap), func(l line) bool { return !l.scope.within(v.scope) || !keep(l) })
	sort := v.sorts[v.mode]
	slices.SortStableFunc(lines, func(a, b line) int {
		n := 0
		if m.columns[sort.column].number {
			n = cmp.Compare(b.cells[sort.column].(float64), a.cells[sort.column].(float64))
		} else {
			n = cmp.Compare(a.cells[sort.column].(string), b.cells[sort.column].(string))
		}
		if sort.reversed {
			n = -n
		}
		return n
	})
	return lines
}

func cellText(cell any) string {
	switch c := cell.(type) {
	case string:
		return term.Line(c)
	case float64:
		if c != float64(int64(c)) && c < 100 {
			return fmt.Sprintf("%.1f", c)
		}
		return term.Thousands(int64(c + 0.5))
	}
	return ""
}
