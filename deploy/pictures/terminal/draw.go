package terminal

import (
	"fmt"
	"html"
	"strings"
)

const (
	cellWidth, cellHeight = 7.8, 17.0
	margin, bar           = 16.0, 34.0
	text, screen          = "#d5d7e0", "#0d1117"
)

// shades are the letters that are drawn as boxes, because fonts leave gaps between them, with the fraction that they cover.
var shades = map[rune]float64{'█': 1, '▓': .75, '▒': .5, '░': .28, '·': .12}

// Draw returns a window with the title and the written text.
func Draw(title, written string) []byte {
	lines := parse(written)
	columns := 0
	for _, l := range lines {
		for _, r := range l {
			columns = max(columns, r.column+len([]rune(strings.TrimRight(r.text, " "))))
		}
	}
	width, height := 2*margin+float64(columns)*cellWidth, bar+margin+float64(len(lines))*cellHeight
	var c strings.Builder
	fmt.Fprintf(&c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.4g %.4g" font-family="'DejaVu Sans Mono', Menlo, Consolas, `+
		`monospace" font-size="13">`+"\n", width, height)
	fmt.Fprintf(&c, "<title>%s</title>\n", html.EscapeString(title))
	fmt.Fprintf(&c, `<rect width="%.4g" height="%.4g" rx="8" fill="%s"/>`+"\n", width, height, screen)
	for i, color := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&c, `<circle cx="%d" cy="17" r="5.5" fill="%s"/>`+"\n", 20+18*i, color)
	}
	fmt.Fprintf(&c, `<text x="%.4g" y="21" text-anchor="middle" fill="#8e929e">%s</text>`+"\n", width/2, html.EscapeString(title))
	for i, l := range lines {
		for _, r := range l {
			drawRun(&c, r, bar+float64(i)*cellHeight)
		}
	}
	c.WriteString("</svg>\n")
	return []byte(c.String())
}

func drawRun(c *strings.Builder, r run, y float64) {
	color := r.color
	if color == "" {
		color = text
	}
	x := func(column int) float64 { return margin + float64(column)*cellWidth }
	letters := []rune(r.text)
	if r.reverse {
		fmt.Fprintf(c, `<rect x="%.4g" y="%.4g" width="%.4g" height="%.4g" fill="%s"/>`+"\n", x(r.column), y,
			float64(len(letters))*cellWidth, cellHeight, color)
		color = screen
	}
	attributes := fmt.Sprintf(`fill="%s"`, color)
	if r.bold {
		attributes += ` font-weight="bold"`
	}
	if r.underline {
		attributes += ` text-decoration="underline"`
	}
	for i := 0; i < len(letters); {
		n := alike(letters[i:])
		switch cover, boxed := shades[letters[i]]; {
		case boxed:
			fmt.Fprintf(c, `<rect x="%.4g" y="%.4g" width="%.4g" height="%.4g" fill="%s" fill-opacity="%g"/>`+"\n",
				x(r.column+i), y+1, float64(n)*cellWidth, cellHeight-2, color, cover)
		case strings.TrimSpace(string(letters[i:i+n])) != "":
			fmt.Fprintf(c, `<text x="%.4g" y="%.4g" textLength="%.4g" xml:space="preserve" %s>%s</text>`+"\n",
				x(r.column+i), y+cellHeight-4.5, float64(n)*cellWidth, attributes, html.EscapeString(string(letters[i:i+n])))
		}
		i += n
	}
}

// alike returns the number of letters that can be drawn at once: repetitions of the same box, or text up to the next box or wide gap.
func alike(letters []rune) int {
	n := 1
	if _, boxed := shades[letters[0]]; boxed {
		for n < len(letters) && letters[n] == letters[0] {
			n++
		}
		return n
	}
	for n < len(letters) {
		if _, boxed := shades[letters[n]]; boxed {
			break
		}
		if letters[0] != ' ' && letters[n] == ' ' && (n+1 == len(letters) || letters[n+1] == ' ') {
			break
		}
		if letters[0] == ' ' && letters[n] != ' ' {
			break
		}
		n++
	}
	return n
}
