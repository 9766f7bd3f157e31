package top

import (
	"slices"
	"strconv"
	"strings"
)

// parseFilter parses COLUMN>NUMBER, COLUMN<NUMBER, COLUMN=TEXT, or a text that any column must contain; several of them are separated by
// spaces. A condition that is still being typed keeps every line.
func parseFilter(filter string, columns []column) func(line) bool {
	var conditions []func(line) bool
	for _, word := range strings.Fields(filter) {
		if c := parseCondition(word, columns); c != nil {
			conditions = append(conditions, c)
		}
	}
	return func(l line) bool {
		return !slices.ContainsFunc(conditions, func(holds func(line) bool) bool { return !holds(l) })
	}
}

// parseCondition returns nil for an incomplete condition.
func parseCondition(word string, columns []column) func(line) bool {
	at := strings.IndexAny(word, "<>=")
	if at < 0 {
		return func(l line) bool {
			return slices.ContainsFunc(l.cells, func(c any) bool { return strings.Contains(strings.ToLower(cellText(c)), strings.ToLower(word)) })
		}
	}
	wanted := strings.TrimLeft(word[at:], "<>=")
	op := word[at : len(word)-len(wanted)]
	i := slices.IndexFunc(columns, func(c column) bool { return strings.EqualFold(c.title, word[:at]) })
	if i < 0 || wanted == "" {
		return nil
	}
	if !columns[i].number {
		return func(l line) bool { return strings.EqualFold(l.cells[i].(string), wanted) }
	}
	number, err := strconv.ParseFloat(wanted, 64)
	if err != nil {
		return nil
	}
	return func(l line) bool { return compares(l.cells[i].(float64), op, number) }
}

func compares(a float64, op string, b float64) bool {
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
