package dashboard

import (
	"fmt"
	"html"
	"strings"
)

// The look of Grafana's dark theme.
const (
	background = "#111217"
	surface    = "#181b1f"
	border     = "#2c3038"
	bright     = "#d5d7e0"
	muted      = "#8e929e"
	grid       = "#272b33"
)

var palette = []string{"#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2", "#b877d9", "#37a2eb", "#e0b400", "#96d98d",
	"#ffa6b0", "#ca95e5", "#56a64b", "#3274d9", "#fa6400", "#8f3bb8"}

// named returns a color that Grafana knows by name.
func named(color string) string {
	if c, ok := map[string]string{"green": "#73bf69", "orange": "#ff9830", "red": "#f2495c"}[color]; ok {
		return c
	}
	return color
}

// canvas is an SVG under construction. Lengths are in pixels, to one decimal.
type canvas struct{ strings.Builder }

func (c *canvas) rect(x, y, w, h float64, attributes string) {
	fmt.Fprintf(c, `<rect x="%.4g" y="%.4g" width="%.4g" height="%.4g" %s/>`+"\n", x, y, w, h, attributes)
}

func (c *canvas) text(x, y float64, attributes, text string) {
	fmt.Fprintf(c, `<text x="%.4g" y="%.4g" %s>%s</text>`+"\n", x, y, attributes, html.EscapeString(text))
}

func (c *canvas) line(x1, y1, x2, y2 float64, attributes string) {
	fmt.Fprintf(c, `<path d="M%.4g %.4gL%.4g %.4g" %s/>`+"\n", x1, y1, x2, y2, attributes)
}

// letter is the average width of a letter at size 1.
const letter = 0.56

// fitted truncates a text to a width in pixels.
func fitted(text string, size, width float64) string {
	most := max(1, int(width/(size*letter)))
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// box is an area of the canvas.
type box struct{ x, y, w, h float64 }
