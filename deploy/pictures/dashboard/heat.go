package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// inferno is the color scale, from zero to the maximum.
var inferno = []string{"#181b1f", "#140e36", "#230a4f", "#390962", "#4f0d6c", "#65156e", "#7a1d6d", "#8f2469", "#a42c60", "#b93556",
	"#cc4248", "#dc5039", "#e96529", "#f37819", "#fa9008", "#fca50a", "#fbbf24", "#f6d746", "#f1ed71", "#fcffa4"}

// drawHeat draws a line of cells per series: for a histogram from the smallest bucket up, otherwise from the first name down.
func drawHeat(c *canvas, p *Panel, at box, s *Source, all []series) error {
	unit, names := p.FieldConfig.Defaults.Unit, ""
	if p.Targets[0].Format == "heatmap" {
		all, unit, names = apart(all), "short", p.Options.YAxis.Unit
		slices.Reverse(all) // longest on top
	}
	left := 8.0
	for i := range all {
		if names != "" {
			all[i].name = bucketName(all[i].name, names)
		}
		left = max(left, 7+11*letter*float64(len([]rune(all[i].name)))*1.04)
	}
	left = min(left, 190)
	plot := box{at.x + left + 8, at.y + 34, at.w - left - 22, at.h - 34 - 22 - 26}
	most := 0.0
	for _, line := range all {
		most = max(most, line.max())
	}
	timeAxis(c, plot, s)
	drawCells(c, plot, all, most)
	line := plot.h / float64(len(all))
	every := int(math.Ceil(11 / line)) // so that names do not overlap
	for i := 0; i < len(all); i += every {
		c.text(plot.x-5, plot.y+(float64(i)+.5)*line+4, fmt.Sprintf(`fill="%s" text-anchor="end"`, muted), fitted(all[i].name, 11, left))
	}
	return drawScale(c, box{plot.x, plot.y + plot.h + 26, min(plot.w, 220), 8}, most, unit)
}

// drawCells draws one path per color. Its lines are as thick as a cell, and its lengths are in cells; one rectangle per cell would be
// large. A square root makes small values visible next to large ones.
func drawCells(c *canvas, plot box, all []series, most float64) {
	cells := make([]strings.Builder, len(inferno))
	columns := len(all[0].values)
	for row, line := range all {
		color := func(i int) int {
			if i >= columns || !(line.values[i] > 0) || most == 0 {
				return 0
			}
			return max(1, int(math.Round(math.Sqrt(line.values[i]/most)*float64(len(inferno)-1))))
		}
		for i, run := 0, 1; i < columns; i, run = i+run, 1 {
			for color(i+run) == color(i) && i+run < columns {
				run++
			}
			if n := color(i); n > 0 {
				fmt.Fprintf(&cells[n], "M%d %dh%d", i, row, run)
			}
		}
	}
	w, h := plot.w/float64(columns), plot.h/float64(len(all))
	fmt.Fprintf(c, `<g transform="translate(%.4g %.4g) scale(%.5g %.5g)" fill="none" stroke-width=".94">`+"\n", plot.x, plot.y+h/2, w, h)
	for n := range cells {
		if cells[n].Len() > 0 {
			fmt.Fprintf(c, `<path d="%s" stroke="%s"/>`+"\n", cells[n].String(), inferno[n])
		}
	}
	c.WriteString("</g>\n")
}

func drawScale(c *canvas, at box, most float64, unit string) error {
	w := at.w / float64(len(inferno)-1)
	for i, color := range inferno[1:] {
		c.rect(at.x+float64(i)*w, at.y, w+.5, at.h, fmt.Sprintf(`fill="%s"`, color))
	}
	text, err := format(most, unit)
	c.text(at.x+at.w+8, at.y+at.h, fmt.Sprintf(`fill="%s"`, muted), text+" (the most)")
	return err
}

// apart subtracts from each bucket of a histogram, which is cumulative, the one below it.
func apart(all []series) []series {
	bound := func(s series) float64 {
		v, err := strconv.ParseFloat(s.labels["le"], 64)
		if err != nil {
			return math.Inf(1)
		}
		return v
	}
	slices.SortFunc(all, func(a, b series) int { return cmp.Compare(bound(a), bound(b)) })
	out := make([]series, 0, len(all))
	for i, line := range all {
		next := series{name: line.name, labels: line.labels, values: slices.Clone(line.values)}
		for j := range next.values {
			if i > 0 && !math.IsNaN(all[i-1].values[j]) {
				next.values[j] = max(0, next.values[j]-all[i-1].values[j])
			}
		}
		out = append(out, next)
	}
	return out
}

// bucketName returns the bound of a bucket in its unit.
func bucketName(le, unit string) string {
	v, err := strconv.ParseFloat(le, 64)
	if err != nil || math.IsInf(v, 1) {
		return "more"
	}
	text, err := format(v, unit)
	if err != nil {
		return le
	}
	return text
}
