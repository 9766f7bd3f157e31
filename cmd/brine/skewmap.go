package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"

	"brine/skew"
)

// The size of a heat map in a terminal of 100 columns.
const (
	mapRanges  = 40
	mapColumns = 60
)

// showMaps shows the heat map of each table.
func (c *skewCmd) showMaps(e *env, asked brineAt, state skew.State) error {
	maps := map[string]skew.HeatMap{}
	for name := range state.Tables {
		query := url.Values{"table": {name}, "minutes": {fmt.Sprint(c.Minutes)}}
		if !c.JSON {
			query.Set("ranges", fmt.Sprint(mapRanges))
			query.Set("columns", fmt.Sprint(mapColumns))
		}
		var m skew.HeatMap
		if err := asked.ask(e.ctx, skewMapPath+"?"+query.Encode(), &m); err != nil {
			return err
		}
		maps[name] = m
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(maps)
	}
	for _, name := range sortedKeys(maps) {
		printMap(e.stdout, name, maps[name])
	}
	return nil
}

var shades = []rune(" ·░▒▓█")

// shade draws a value between nothing and the most; a little is not nothing.
func shade(value, most float64) rune {
	if value <= 0 || most <= 0 {
		return shades[0]
	}
	return shades[max(1, int(math.Round(value/most*float64(len(shades)-1))))]
}

// printMap draws time from left to right and keys from top to bottom, each as wide as the others whatever it holds, with what the
// darkest shade means.
func printMap(out io.Writer, table string, m skew.HeatMap) {
	if len(m.Times) == 0 {
		printLine(out, "%s: nothing is known yet", table)
		return
	}
	const layout = "15:04"
	printLine(out, "%s: rows a second by key range and time, █ = %s", table, thousands(int64(math.Ceil(m.Most))))
	width := 0
	starts := make([]string, len(m.Starts))
	for i, key := range m.Starts {
		starts[i] = clip(start(key.String()), 24)
		width = max(width, len([]rune(starts[i])))
	}
	most := make([]float64, len(m.Times)) // of each column
	for i, row := range m.Rows {
		var cells strings.Builder
		for j, value := range row {
			cells.WriteRune(shade(value, m.Most))
			most[j] += value
		}
		fmt.Fprintf(out, "  %-*s │%s│ %s\n", width, starts[i], cells.String(), thousands(int64(slices.Max(row))))
	}
	largest := slices.Max(most)
	var sums strings.Builder
	for _, value := range most {
		sums.WriteRune(shade(value, largest))
	}
	fmt.Fprintf(out, "  %-*s │%s│ %s\n", width, "(all)", sums.String(), thousands(int64(largest)))
	first, last := m.Times[0].Local().Format(layout), m.Times[len(m.Times)-1].Local().Format(layout)
	if gap := len(m.Times) - len(first) - len(last); gap > 0 {
		first += strings.Repeat(" ", gap)
	} else {
		first += "–"
	}
	fmt.Fprintf(out, "  %-*s  %s%s  until\n", width, "", first, last)
}
