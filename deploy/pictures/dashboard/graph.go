package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	legendLine = 15.0
	legendMost = 6  // number of lines
	linesMost  = 16 // number of lines in a graph: those with the largest values; nobody can tell more of them apart
)

// drawGraph draws lines over time, and below them their names with the last and largest values.
func drawGraph(c *canvas, p *Panel, at box, s *Source, all []series) error {
	unit := p.FieldConfig.Defaults.Unit
	all, left := largest(all, linesMost)
	shown := min(len(all), legendMost)
	const axis = 58
	plot := box{at.x + axis, at.y + 34, at.w - axis - 14, at.h - 34 - 22 - 18 - legendLine*float64(shown) - 6}
	if len(all)+left > shown {
		plot.h -= legendLine
	}
	most := 0.0
	for _, line := range all {
		most = max(most, line.max())
	}
	marks := ticks(most, unit)
	most = marks[len(marks)-1]
	timeAxis(c, plot, s)
	for _, v := range marks {
		text, err := format(v, unit)
		if err != nil {
			return err
		}
		y := plot.y + plot.h*(1-v/most)
		c.line(plot.x, y, plot.x+plot.w, y, fmt.Sprintf(`stroke="%s"`, grid))
		c.text(plot.x-6, y+4, fmt.Sprintf(`fill="%s" text-anchor="end"`, muted), text)
	}
	drawLimits(c, p, plot, most)
	for i, line := range all {
		d, _, _ := points(line.values, plot, most)
		fmt.Fprintf(c, `<path d="%s" fill="none" stroke="%s" stroke-width="1.3" stroke-linejoin="round"/>`+"\n", d, palette[i%len(palette)])
	}
	return drawLegend(c, box{at.x + 10, plot.y + plot.h + 22, at.w - 20, 0}, unit, all, shown, left)
}

// drawLimits draws the thresholds that the panel shows as lines.
func drawLimits(c *canvas, p *Panel, plot box, most float64) {
	if p.FieldConfig.Defaults.Custom.ThresholdsStyle.Mode != "dashed" {
		return
	}
	for _, step := range p.FieldConfig.Defaults.Thresholds.Steps {
		if step.Value != nil && *step.Value < most {
			y := plot.y + plot.h*(1-*step.Value/most)
			c.line(plot.x, y, plot.x+plot.w, y, fmt.Sprintf(`stroke="%s" stroke-dasharray="8 6"`, named(step.Color)))
		}
	}
}

// points returns a path through values, with gaps where there are none, and its first and last point. To keep pictures small, it rounds to
// half pixels, and omits points within level lines.
func points(values []float64, plot box, most float64) (d string, first, last float64) {
	var path strings.Builder
	half := func(v float64) float64 { return math.Round(2*v) / 2 }
	pen, command, px, py := false, "", 0.0, 0.0
	first = math.NaN()
	for i, v := range values {
		if math.IsNaN(v) {
			pen = false
			continue
		}
		x := half(plot.x + plot.w*float64(i)/float64(max(1, len(values)-1)))
		y := half(plot.y + plot.h*(1-min(v, most)/most))
		switch {
		case !pen:
			fmt.Fprintf(&path, "M%g %g", x, y)
			command = "l"
		case y == py && i+1 < len(values) && half(plot.y+plot.h*(1-min(values[i+1], most)/most)) == y:
			continue
		default:
			fmt.Fprintf(&path, "%s%g %g", command, x-px, y-py)
			command = " " // SVG repeats the command
		}
		if math.IsNaN(first) {
			first = x
		}
		pen, px, py, last = true, x, y, x
	}
	return strings.ReplaceAll(path.String(), " -", "-"), first, last
}

// largest returns the n series with the largest values, in the order of the panel, and the number of the others.
func largest(all []series, n int) (kept []series, left int) {
	if len(all) <= n {
		return all, 0
	}
	bound := slices.SortedFunc(slices.Values(all), func(a, b series) int { return cmp.Compare(b.max(), a.max()) })[n-1].max()
	for _, line := range all {
		if len(kept) < n && line.max() >= bound {
			kept = append(kept, line)
		}
	}
	return kept, len(all) - len(kept)
}

// drawLegend writes the series with the largest values, in the order of the panel.
func drawLegend(c *canvas, at box, unit string, all []series, shown, left int) error {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].max(), all[a].max()) })
	order = order[:shown]
	slices.Sort(order)
	const numbers = 74.0
	right := at.x + at.w
	for i, title := range []string{"max", "last"} {
		c.text(right-numbers*float64(i), at.y+10, fmt.Sprintf(`fill="%s" text-anchor="end"`, muted), title)
	}
	y := at.y + 10
	for _, i := range order {
		y += legendLine
		c.rect(at.x, y-5, 12, 3, fmt.Sprintf(`fill="%s"`, palette[i%len(palette)]))
		c.text(at.x+18, y, fmt.Sprintf(`fill="%s"`, bright), fitted(all[i].name, 11, at.w-2*numbers-10))
		for j, v := range []float64{all[i].max(), all[i].last()} {
			text, err := format(v, unit)
			if err != nil {
				return err
			}
			c.text(right-numbers*float64(j), y, fmt.Sprintf(`fill="%s" text-anchor="end"`, bright), text)
		}
	}
	if more := len(all) - shown; more+left > 0 {
		text := fmt.Sprintf("and %d more", more+left)
		if left > 0 {
			text += fmt.Sprintf(", %d of them not drawn", left)
		}
		c.text(at.x+18, y+legendLine, fmt.Sprintf(`fill="%s"`, muted), text)
	}
	return nil
}
