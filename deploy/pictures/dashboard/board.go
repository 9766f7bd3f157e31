// Package dashboard draws Grafana's dashboards as SVG without Grafana: it reads their JSON, sends each panel's queries to a Prometheus, and
// draws what brine's dashboards use: rows, numbers, graphs and heat maps. deploy/pictures calls it.
//
// The invariant: what is drawn is what Prometheus answered; a failed query or a panel of an unknown kind is an error.
package dashboard

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Board is the part of a dashboard that is drawn.
type Board struct {
	UID, Title string
	Panels     []Panel
}

// Panel is one panel. Its position is in columns and lines of Grafana's grid.
type Panel struct {
	Type, Title string
	GridPos     struct{ X, Y, W, H int }
	Targets     []Target
	FieldConfig struct {
		Defaults struct {
			Unit, NoValue string
			Thresholds    struct{ Steps []Step }
			Custom        struct{ ThresholdsStyle struct{ Mode string } }
		}
	}
	Options struct {
		YAxis struct{ Unit string }
	}
}

// Target is a query.
type Target struct{ Expr, LegendFormat, Format string }

// Step is a color from a value on; the first one has no value.
type Step struct {
	Color string
	Value *float64
}

// Read reads a dashboard's JSON.
func Read(text []byte) (*Board, error) {
	var b Board
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, err
	}
	for _, p := range b.Panels {
		if !slices.Contains([]string{"row", "stat", "timeseries", "heatmap"}, p.Type) {
			return nil, fmt.Errorf("%s: %s: cannot draw a panel of type %s", b.UID, p.Title, p.Type)
		}
	}
	return &b, nil
}

// color returns the color of a value.
func (p *Panel) color(v float64) string {
	color := ""
	for _, s := range p.FieldConfig.Defaults.Thresholds.Steps {
		if s.Value == nil || v >= *s.Value {
			color = named(s.Color)
		}
	}
	return color
}
