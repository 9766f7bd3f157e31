package main

import (
	"context"
	"fmt"

	"brine/ingest"
	"brine/lookup"
	"brine/verify"
)

// options are those of one verification. The groups are asked where they are.
func (v *verification) options(ctx context.Context) (verify.Options, error) {
	o := verify.Options{Tables: v.tables, Full: v.cmd.Full, Sample: v.cmd.share, Dir: v.cmd.Temp, Hooks: v.hooks()}
	for _, g := range v.groups {
		if err := g.ask(ctx, v.kafka); err != nil {
			return o, kafkaError(fmt.Errorf("%s: %w", g.name, err))
		}
		o.Sources = append(o.Sources, v.source(g))
	}
	return o, nil
}

func (v *verification) source(g *liveGroup) verify.Source {
	p, rows := v.half(g)
	s := verify.Source{Name: g.name, Ingest: v.cfg.Ingest(p, g.group), From: v.cmd.span.from, To: v.cmd.span.to, Partitions: v.cmd.span.partitions}
	s.Ingest.RecordsPerSecond = float64(v.cmd.Rate)
	s.Ingest.OutOfRange = ingest.FromEarliest
	s.Ingest.Logger = v.service.log
	s.Letters = verify.DeadLetters(s.Ingest)
	if rows {
		opts := p.Sink()
		s.Rows = &opts
	} else {
		opts := p.Indexer()
		s.Documents = &opts
	}
	if opts, completes := p.Lookup(); completes {
		s.Through = func(to ingest.Writer) (ingest.Writer, error) { return lookup.New(v.service.cluster.client, to, opts) }
	}
	if v.cmd.Ahead {
		return s
	}
	if len(g.committed) == 0 {
		v.screen.said("%s: the group %s has committed nothing, so all of the range is expected to be there", g.name, g.group)
		return s
	}
	s.Settled = map[int]int64{}
	for partition := range g.ends {
		s.Settled[partition], _ = g.at(partition)
	}
	return s
}

// writers are what a repair writes with, by source.
func (v *verification) writers(ctx context.Context) ([]ingest.Writer, error) {
	for _, p := range v.cfg.Pipelines {
		if !v.verifies(p) {
			continue
		}
		if err := v.service.refuseOutlived(ctx, p); err != nil {
			return nil, err
		}
	}
	var out []ingest.Writer
	for _, g := range v.groups {
		p, rows := v.half(g)
		add := v.service.addDocuments
		if rows {
			add = v.service.addRows
		}
		if err := add(p); err != nil {
			return nil, err
		}
		out = append(out, v.service.halves[len(v.service.halves)-1].opts.Writer)
	}
	return out, ctx.Err()
}
