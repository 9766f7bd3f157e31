package main

import (
	"context"
	"log/slog"
	"slices"

	"brine/config"
	"brine/ingest"
)

// openReplays opens the stores that the replays write to, and no others.
func openReplays(ctx context.Context, cfg *config.Config, p *config.Pipeline, replays []*replay, log *slog.Logger) (*service, error) {
	s := prepareService(onlyPipelines(cfg, p), log)
	for _, r := range replays {
		if err := r.open(ctx, s, p); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// onlyPipelines is the configuration cut down to some pipelines and the tables that they write.
func onlyPipelines(cfg *config.Config, pipelines ...*config.Pipeline) *config.Config {
	only := *cfg
	only.Pipelines = pipelines
	only.Tables = slices.DeleteFunc(slices.Clone(cfg.Tables), func(t *config.Table) bool {
		return !slices.ContainsFunc(pipelines, func(p *config.Pipeline) bool {
			return slices.ContainsFunc(p.Rows, func(r config.Rows) bool { return r.Table == t.Name })
		})
	})
	return &only
}

// somePipelines is the configuration cut down to the pipelines of these names; all of it when none is named.
func somePipelines(cfg *config.Config, names []string) (*config.Config, error) {
	if len(names) == 0 {
		return cfg, nil
	}
	var only []*config.Pipeline
	for _, name := range names {
		p, err := pipeline(cfg, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(only, p) {
			only = append(only, p)
		}
	}
	return onlyPipelines(cfg, only...), nil
}

// openHalf opens a half's store, unless that is done, and prepares the half.
func (s *service) openHalf(ctx context.Context, p *config.Pipeline, group string) (*half, error) {
	if err := s.refuseOutlived(ctx, p); err != nil {
		return nil, err
	}
	_, looksUp := p.Lookup()
	if s.cluster == nil && (looksUp || group != p.DocumentsGroup()) {
		if err := s.openTables(ctx); err != nil {
			return nil, err
		}
	}
	if group == p.DocumentsGroup() {
		if err := s.addDocuments(p); err != nil {
			return nil, err
		}
	} else if err := s.addRows(p); err != nil {
		return nil, err
	}
	return s.halves[len(s.halves)-1], nil
}

// open opens the half's store and makes the replay that writes to it.
func (r *replay) open(ctx context.Context, s *service, p *config.Pipeline) (err error) {
	if r.half, err = s.openHalf(ctx, p, r.opts.Group); err != nil {
		return err
	}
	o := r.opts
	o.Writer, o.Hooks, o.Logger = r.half.opts.Writer, r.half.opts.Hooks, r.half.opts.Logger
	skipped := o.Hooks.Skipped
	o.Hooks.Skipped = func(partition int, from, to int64) {
		skipped(partition, from, to)
		r.gone.Add(to - from)
	}
	r.run, err = ingest.NewReplay(o)
	return err
}
