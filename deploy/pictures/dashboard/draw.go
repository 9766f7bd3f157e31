package dashboard

import (
	"context"
	"fmt"
	"time"
)

// The grid in pixels: 24 columns, and lines of this height.
const (
	width  = 1392.0
	column = width / 24
	lines  = 36.0
	gap    = 4.0
	head   = 56.0
)

// Draw returns the dashboard as SVG.
func Draw(ctx context.Context, b *Board, s *Source) ([]byte, error) {
	height := 0
	for _, p := range b.Panels {
		height = max(height, p.GridPos.Y+p.GridPos.H)
	}
	c := &canvas{}
	total := head + float64(height)*lines + 8
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.4g %.4g" font-family="Inter, Helvetica, Arial, 'DejaVu Sans', `+
		`sans-serif" font-size="11">`+"\n", width, total)
	fmt.Fprintf(c, "<title>%s</title>\n", b.Title)
	c.rect(0, 0, width, total, fmt.Sprintf(`fill="%s"`, background))
	c.text(14, 34, fmt.Sprintf(`fill="%s" font-size="19" font-weight="500"`, bright), b.Title)
	c.text(width-14, 33, fmt.Sprintf(`fill="%s" text-anchor="end" font-size="12"`, muted),
		fmt.Sprintf("%s to %s UTC, a point every %v", s.From.UTC().Format("15:04"), s.To.UTC().Format("15:04"), s.Step))
	for i := range b.Panels {
		if err := drawPanel(ctx, c, &b.Panels[i], s); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", b.UID, b.Panels[i].Title, err)
		}
	}
	c.WriteString("</svg>\n")
	return []byte(c.String()), nil
}

func drawPanel(ctx context.Context, c *canvas, p *Panel, s *Source) error {
	g := p.GridPos
	at := box{float64(g.X)*column + gap, head + float64(g.Y)*lines + gap, float64(g.W)*column - 2*gap, float64(g.H)*lines - 2*gap}
	if p.Type == "row" {
		c.text(at.x+10, at.y+at.h-6, fmt.Sprintf(`fill="%s" font-size="15" font-weight="500"`, bright), p.Title)
		return nil
	}
	c.rect(at.x, at.y, at.w, at.h, fmt.Sprintf(`rx="3" fill="%s" stroke="%s"`, surface, border))
	c.text(at.x+10, at.y+20, fmt.Sprintf(`fill="%s" font-size="13" font-weight="500"`, bright), fitted(p.Title, 13, at.w-20))
	var all []series
	for _, t := range p.Targets {
		found, err := s.ask(ctx, t)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		text := p.FieldConfig.Defaults.NoValue
		if text == "" {
			text = "No data"
		}
		c.text(at.x+at.w/2, at.y+at.h/2, fmt.Sprintf(`fill="%s" text-anchor="middle" font-size="13"`, muted), text)
		return nil
	}
	switch p.Type {
	case "stat":
		return drawNumber(c, p, at, all[0])
	case "heatmap":
		return drawHeat(c, p, at, s, all)
	}
	return drawGraph(c, p, at, s, all)
}

// timeAxis writes some four to eight times below a plot, and draws a line at each.
func timeAxis(c *canvas, plot box, s *Source) {
	span := s.To.Sub(s.From)
	every := time.Minute
	for _, d := range []time.Duration{2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
		3 * time.Hour, 6 * time.Hour, 24 * time.Hour} {
		if span/every <= 7 {
			break
		}
		every = d
	}
	for t := s.From.Truncate(every); !t.After(s.To); t = t.Add(every) {
		if t.Before(s.From) {
			continue
		}
		x := plot.x + plot.w*float64(t.Sub(s.From))/float64(span)
		c.line(x, plot.y, x, plot.y+plot.h, fmt.Sprintf(`stroke="%s"`, grid))
		if x > plot.x+plot.w-14 || x < plot.x+10 {
			continue
		}
		c.text(x, plot.y+plot.h+14, fmt.Sprintf(`fill="%s" text-anchor="middle"`, muted), t.UTC().Format("15:04"))
	}
}
