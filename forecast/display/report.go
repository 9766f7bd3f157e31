// Package display prints a forecast for people: the split of a table, what collides, and the capacity that it needs.
package display

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"brine/forecast"
	"brine/internal/term"
	"brine/plan"
	"brine/rowkey"
	"brine/skew/display"
)

// Report prints the forecast of a table with the given keys.
func Report(out io.Writer, colours term.Paint, keys rowkey.Keys, r *forecast.Report) {
	records, rows := term.Count(r.Records, "record"), term.Count(r.Rows, "row")
	filtered := map[string]int64{}
	if r.Filtered > 0 {
		filtered[r.Table] = int64(r.Filtered)
	}
	fmt.Fprintf(out, "\n%s → %s: %s, %s%s%s\n", r.Pipeline, r.Table, records, roughly(r.Exact), rows,
		term.LeftOut(r.LeftOut, filtered))
	if r.LookedUp > 0 {
		fmt.Fprintf(out, "  %s without fields of the key, which are looked up: not predicted\n", term.Count(r.LookedUp, "record"))
	}
	if r.Rows > 0 {
		printSplit(out, colours, keys, r)
		printProposed(out, r)
	} else {
		fmt.Fprintln(out, "  no event in the sample produces a row; nothing to forecast")
	}
	for _, w := range r.Warnings() {
		term.Wrapped(out, "  ", "warning: "+w.Msg)
		if w.Rule == forecast.CollisionRule {
			printCollided(out, r)
		}
		if w.Fix != "" {
			term.Wrapped(out, "    ", "fix: "+w.Fix)
		}
	}
	if r.Capacity != nil {
		sheet(out, r.Forecast, r.Capacity)
	}
}

func roughly(exact bool) string {
	if exact {
		return ""
	}
	return "about "
}

// shownRegions is the most regions that are listed; if there are more, those with the most rows are.
const shownRegions = 64

// printSplit draws the share of each region.
func printSplit(out io.Writer, colours term.Paint, keys rowkey.Keys, f *forecast.Report) {
	regions := f.Split.Regions
	largest := slices.MaxFunc(regions, func(a, b plan.Region) int { return a.Rows - b.Rows }).Rows
	least := 0
	if len(regions) > shownRegions {
		counts := make([]int, len(regions))
		for i, r := range regions {
			counts[i] = r.Rows
		}
		slices.Sort(counts)
		least = counts[len(counts)-shownRegions]
	}
	w := term.Table{Out: out}
	w.Row("  START", "      ROWS", "   SHARE")
	shown := 0
	for _, r := range regions {
		if r.Rows < least || shown == shownRegions {
			continue
		}
		shown++
		colour := colours.Blue
		if slices.ContainsFunc(f.Hot, func(h plan.HotRegion) bool { return h.Start.String() == r.Start.String() }) {
			colour = colours.Red
		}
		w.Painted(colour, "  "+term.Clip(display.Start(keys, r.Start), 48), fmt.Sprintf("%10s", term.Thousands(int64(r.Rows))),
			fmt.Sprintf("%6.2f %%", 100*r.Share),
			term.Bar(float64(r.Rows), float64(largest)))
	}
	w.Flush()
	if n := len(regions) - shown; n > 0 {
		fmt.Fprintf(out, "  and %s with fewer rows\n", term.Count(n, "region"))
	}
	fmt.Fprintf(out, "  as configured: %s\n", spread(f.Split))
}

func spread(s plan.Split) string {
	return fmt.Sprintf("%s, max/mean %.3f, CV %.3f, Gini %.3f", term.Count(len(s.Regions), "region"), s.Indices.MaxMean,
		s.Indices.CV, s.Indices.Gini)
}

var splitKinds = map[string]string{"boundaries": "on the key's own boundaries", "quantiles": "at the sample's quantiles"}

// printProposed prints the better split, or that there is none.
func printProposed(out io.Writer, f *forecast.Report) {
	if f.Proposed == nil {
		return
	}
	points, current := splitPoints(f.Proposed), splitPoints(&f.Split)
	if slices.Equal(points, current) {
		fmt.Fprintf(out, "  proposed: the same, %s\n", splitKinds[f.Kind])
		return
	}
	fmt.Fprintf(out, "  proposed, %s: %s\n", splitKinds[f.Kind], spread(*f.Proposed))
	if len(points) > shownRegions {
		fmt.Fprintf(out, "    %d split points, from %s to %s (--json lists them)\n", len(points), points[0], points[len(points)-1])
		return
	}
	for i, p := range points {
		points[i] = fmt.Sprintf("%q", p)
	}
	term.Wrapped(out, "    ", "splits: ["+strings.Join(points, ", ")+"]")
}

func splitPoints(s *plan.Split) []string {
	var points []string
	for _, r := range s.Regions[1:] {
		points = append(points, r.Start.String())
	}
	return points
}

func printCollided(out io.Writer, f *forecast.Report) {
	for _, pair := range f.Collided {
		fmt.Fprintf(out, "    row %s\n", term.Clip(pair.Row.String(), 92))
		for _, ev := range pair.Events {
			term.Println(out, "      %s: %s", f.Place(ev.At), term.Clip(ev.Text, 80))
		}
	}
}
