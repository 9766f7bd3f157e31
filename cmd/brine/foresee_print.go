package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"brine/plan"
	"brine/rowkey"
	"brine/skew"
)

func (s foreseen) print(e *env) {
	colours := newPaint(e)
	for i := range s.foresights {
		f := &s.foresights[i]
		fmt.Fprintf(e.stdout, "\n%s → %s: %s, %s%s\n", f.Pipeline, f.Table, count(f.Records, "record"), roughly(f.Exact), count(f.Rows, "row"))
		if f.LookedUp > 0 {
			fmt.Fprintf(e.stdout, "  %s without fields of the key, which are looked up: not foreseen\n", count(f.LookedUp, "record"))
		}
		if f.Rows > 0 {
			f.printSplit(e.stdout, colours)
			f.printProposed(e.stdout)
		} else {
			fmt.Fprintln(e.stdout, "  no event of the sample has a row: nothing is foreseen")
		}
		for _, w := range f.warnings(s.source) {
			wrapped(e.stdout, "  ", "warning: "+w.Msg)
			if w.Rule == "collision" {
				f.printCollided(e.stdout, s.source)
			}
			if w.Fix != "" {
				wrapped(e.stdout, "    ", "fix: "+w.Fix)
			}
		}
		if f.Capacity != nil {
			printSheet(e.stdout, f.Forecast, f.Capacity)
		}
	}
}

func roughly(exact bool) string {
	if exact {
		return ""
	}
	return "about "
}

// shownRegions is how many regions are listed; of more, those with the most rows.
const shownRegions = 64

// printSplit draws what each region would take.
func (f *foresight) printSplit(out io.Writer, colours paint) {
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
	w := columns{out: out}
	w.row([]string{"  START", "      ROWS", "   SHARE"})
	shown := 0
	for _, r := range regions {
		if r.Rows < least || shown == shownRegions {
			continue
		}
		shown++
		colour := colours.blue
		if slices.ContainsFunc(f.Hot, func(h plan.HotRegion) bool { return h.Start.String() == r.Start.String() }) {
			colour = colours.red
		}
		w.painted([]string{"  " + clip(startOf(f.table.RowKeys(), r.Start), 48), fmt.Sprintf("%10s", thousands(int64(r.Rows))), fmt.Sprintf("%6.2f %%", 100*r.Share),
			bar(float64(r.Rows), float64(largest))}, colour)
	}
	w.flush()
	if n := len(regions) - shown; n > 0 {
		fmt.Fprintf(out, "  and %s with fewer rows\n", count(n, "region"))
	}
	fmt.Fprintf(out, "  as configured: %s\n", spread(f.Split))
}

func spread(s plan.Split) string {
	return fmt.Sprintf("%s, max/mean %.3f, CV %.3f, Gini %.3f", count(len(s.Regions), "region"), s.Indices.MaxMean, s.Indices.CV, s.Indices.Gini)
}

var splitKinds = map[string]string{"boundaries": "on the key's own boundaries", "quantiles": "at the sample's quantiles"}

// printProposed shows the split that would be better, or says that there is none.
func (f *foresight) printProposed(out io.Writer) {
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
	wrapped(out, "    ", "splits: ["+strings.Join(points, ", ")+"]")
}

func splitPoints(s *plan.Split) []string {
	var points []string
	for _, r := range s.Regions[1:] {
		points = append(points, r.Start.String())
	}
	return points
}

func (f *foresight) printCollided(out io.Writer, source sampleSource) {
	for _, pair := range f.Collided {
		fmt.Fprintf(out, "    row %s\n", clip(pair.Row.String(), 92))
		for _, ev := range pair.Events {
			printLine(out, "      %s: %s", source.place(ev.At), clip(ev.Text, 80))
		}
	}
}

// startOf shows where a region begins: its start key, and the fields that it holds whole.
func startOf(keys rowkey.Keys, at skew.Key) string {
	if len(at) == 0 {
		return start("")
	}
	fields := decodedStart(keys, at)
	if fields == "" {
		return at.String()
	}
	return at.String() + "  " + fields
}

// decodedStart returns the fields that a start key holds whole, by the key that fits it: split points are often beginnings of row keys only.
func decodedStart(keys rowkey.Keys, at []byte) string {
	key := cmp.Or(keys.Fit(at), keys.Newest())
	if key == nil {
		return ""
	}
	parts, err := key.Explain(at)
	var out []string
	for i, p := range parts {
		// In a beginning, the last part that is there may go on.
		last := err != nil && (i+1 == len(parts) || parts[i+1].Bytes == nil)
		if p.Value != "" && (!last || p.Width > 0) {
			out = append(out, p.Expr+"="+p.Value)
		}
	}
	return strings.Join(out, " ")
}
