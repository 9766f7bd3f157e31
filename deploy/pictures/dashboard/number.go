package dashboard

import "fmt"

// drawNumber draws the last value, and its history.
func drawNumber(c *canvas, p *Panel, at box, line series) error {
	text, err := format(line.last(), p.FieldConfig.Defaults.Unit)
	if err != nil {
		return err
	}
	color := p.color(line.last())
	below := box{at.x, at.y + at.h*.62, at.w, at.h * .38}
	if most := line.max(); most > 0 {
		d, first, last := points(line.values, below, most)
		fmt.Fprintf(c, `<path d="%sL%.4g %.4gL%.4g %.4gz" fill="%s" fill-opacity=".2"/>`+"\n", d, last, below.y+below.h,
			first, below.y+below.h, color)
		fmt.Fprintf(c, `<path d="%s" fill="none" stroke="%s" stroke-opacity=".7"/>`+"\n", d, color)
	}
	c.text(at.x+at.w/2, at.y+at.h*.58, fmt.Sprintf(`fill="%s" text-anchor="middle" font-size="34" font-weight="500"`, color), text)
	return nil
}
