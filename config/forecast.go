package config

import (
	"fmt"
	"slices"
	"time"

	"brine/forecast"
	"brine/plan"
)

// Forecast returns a target for each table of each pipeline, or of those that are named only.
func (c *Config) Forecast(pipelines ...string) ([]forecast.Target, error) {
	var out []forecast.Target
	for _, p := range c.Pipelines {
		if len(pipelines) > 0 && !slices.Contains(pipelines, p.Name) {
			continue
		}
		seen := map[string]bool{}
		for _, r := range p.Rows {
			if seen[r.Table] {
				continue
			}
			seen[r.Table] = true
			target, err := p.forecast(c.Table(r.Table))
			if err != nil {
				return nil, err
			}
			out = append(out, target)
		}
	}
	return out, nil
}

func (p *Pipeline) forecast(t *Table) (forecast.Target, error) {
	splits, err := t.SplitPoints()
	if err != nil {
		return forecast.Target{}, fmt.Errorf("table %s: %w", t.Name, err)
	}
	out := forecast.Target{
		Pipeline: p.Name, Schema: p.Schema(), Rows: p.Sink(), TTL: map[string]time.Duration{},
		Table: plan.Table{Name: t.Name, Key: t.RowKeys().Newest(), EventRows: t.Row == "event", Splits: splits},
	}
	if lookup, ok := p.Lookup(); ok {
		for _, f := range lookup.Fields {
			out.Lookup = append(out.Lookup, f.Name)
		}
	}
	for _, f := range t.Families {
		out.Table.Families = append(out.Table.Families, plan.Family{Name: f.Name, Codec: f.Compression, BlockSize: int(f.BlockSize)})
		if f.TTL > 0 {
			out.TTL[f.Name] = f.TTL
		}
	}
	return out, nil
}
