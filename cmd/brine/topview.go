package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/internal/term"
)

// topView is what brine top shows and how. Keys change it, drawing does not.
type topView struct {
	snap    topSnapshot
	mode    int
	sorts   []topSort // by mode
	scope   topScope
	filter  string
	typing  bool // into filter
	cursor  int
	help    bool
	stopped bool // the picture stands still
}

type topSort struct {
	column  int
	reverse bool // of the order that is natural: numbers from the largest, texts from A
}

func newTopView() *topView {
	v := &topView{}
	for _, m := range topModes {
		v.sorts = append(v.sorts, topSort{column: m.sort})
	}
	return v
}

const topHelp = "p t r s k h: what to list   ← →: sort by   R: turn round   /: filter   enter: what it is made of   esc: back   space: stand still   q: quit"

// press does what a key asks, and tells whether it asks to end.
func (v *topView) press(key string) (quit bool) {
	if v.typing {
		v.typeKey(key)
		return key == "ctrl+c"
	}
	columns := len(topModes[v.mode].columns)
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
		sort.reverse = !sort.reverse
	case "/":
		v.typing = true
	case "?":
		v.help = !v.help
	case "space":
		v.stopped = !v.stopped
	case "esc":
		v.filter, v.scope = "", topScope{}
	case "enter":
		v.open()
	default:
		v.show(key)
	}
	v.cursor = min(max(v.cursor, 0), max(0, len(v.lines())-1))
	return false
}

// show changes to the mode of a key.
func (v *topView) show(key string) {
	if i := slices.IndexFunc(topModes, func(m topMode) bool { return m.key == key }); i >= 0 {
		v.mode, v.cursor = i, 0
	}
}

func (v *topView) typeKey(key string) {
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

// open shows what the line under the cursor is made of.
func (v *topView) open() {
	lines := v.lines()
	if v.cursor < len(lines) && topModes[v.mode].drill != "" {
		scope := lines[v.cursor].scope
		v.scope.table = cmp.Or(scope.table, v.scope.table)
		v.scope.server = cmp.Or(scope.server, v.scope.server)
		v.filter = ""
		v.show(topModes[v.mode].drill)
	}
}

// lines are those within scope and filter, sorted.
func (v *topView) lines() []topLine {
	m := &topModes[v.mode]
	keep := parseTopFilter(v.filter, m.columns)
	lines := slices.DeleteFunc(m.lines(&v.snap), func(l topLine) bool { return !l.scope.within(v.scope) || !keep(l) })
	sort := v.sorts[v.mode]
	slices.SortStableFunc(lines, func(a, b topLine) int {
		n := 0
		if m.columns[sort.column].number {
			n = cmp.Compare(b.cells[sort.column].(float64), a.cells[sort.column].(float64))
		} else {
			n = cmp.Compare(a.cells[sort.column].(string), b.cells[sort.column].(string))
		}
		if sort.reverse {
			n = -n
		}
		return n
	})
	return lines
}

// parseTopFilter reads COLUMN>NUMBER, COLUMN<NUMBER, COLUMN=TEXT, several of them with spaces between, or a text that any column
// must hold. What is not finished yet keeps everything.
func parseTopFilter(filter string, columns []topColumn) func(topLine) bool {
	var tests []func(topLine) bool
	for _, term := range strings.Fields(filter) {
		at := strings.IndexAny(term, "<>=")
		if at < 0 {
			tests = append(tests, func(l topLine) bool {
				return slices.ContainsFunc(l.cells, func(c any) bool { return strings.Contains(strings.ToLower(topText(c)), strings.ToLower(term)) })
			})
			continue
		}
		op := strings.TrimRight(term[at:], strings.TrimLeft(term[at:], "<>="))
		wanted := term[at+len(op):]
		i := slices.IndexFunc(columns, func(c topColumn) bool { return strings.EqualFold(c.title, term[:at]) })
		number, err := strconv.ParseFloat(wanted, 64)
		switch {
		case i < 0 || wanted == "":
		case !columns[i].number:
			tests = append(tests, func(l topLine) bool { return strings.EqualFold(l.cells[i].(string), wanted) })
		case err == nil:
			tests = append(tests, func(l topLine) bool { return holdsFor(op, l.cells[i].(float64), number) })
		}
	}
	return func(l topLine) bool {
		return !slices.ContainsFunc(tests, func(test func(topLine) bool) bool { return !test(l) })
	}
}

func holdsFor(op string, a, b float64) bool {
	switch op {
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "<":
		return a < b
	case "<=":
		return a <= b
	}
	return a == b
}

func topText(cell any) string {
	switch c := cell.(type) {
	case string:
		return term.Line(c)
	case float64:
		if c != float64(int64(c)) && c < 100 {
			return fmt.Sprintf("%.1f", c)
		}
		return thousands(int64(c + 0.5))
	}
	return ""
}
