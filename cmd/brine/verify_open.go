package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"brine/config"
	"brine/indexer"
	"brine/ingest"
	"brine/metrics"
	"brine/verify"
)

// verification is a verify command with its stores open.
type verification struct {
	cmd     *verifyCmd
	cfg     *config.Config
	groups  []*liveGroup // what is verified: halves of pipelines
	service *service
	metrics *metrics.Verify
	screen  *verifyScreen
	tables  []verify.Table
}

// open finds out what is meant, and opens the stores of that.
func (c *verifyCmd) open(e *env) (*verification, error) {
	cfg, err := c.load(e)
	if err != nil {
		return nil, err
	}
	v := &verification{cmd: c, cfg: cfg, screen: newVerifyScreen(e.stdout, c.JSON, c.Quiet)}
	if v.groups, err = c.groups(e.ctx, cfg, kafkaClient(&cfg.Kafka)); err != nil {
		return nil, err
	}
	if err := v.whole(); err != nil {
		return nil, usage(err)
	}
	only := *cfg
	only.Pipelines = slices.DeleteFunc(slices.Clone(cfg.Pipelines), func(p *config.Pipeline) bool { return !v.verifies(p) })
	only.Tables = slices.DeleteFunc(slices.Clone(cfg.Tables), func(t *config.Table) bool {
		return !slices.ContainsFunc(only.Pipelines, func(p *config.Pipeline) bool { return v.writes(p, t.Name) })
	})
	v.service = prepareService(&only, verifyLog(e))
	v.metrics = metrics.NewVerify(v.service.reg)
	if err := v.openStores(e.ctx); err != nil {
		v.service.close()
		return nil, err
	}
	return v, nil
}

func (v *verification) half(g *liveGroup) (p *config.Pipeline, rows bool) {
	for _, p := range v.cfg.Pipelines {
		if g.group == p.RowsGroup() || g.group == p.DocumentsGroup() {
			return p, g.group == p.RowsGroup()
		}
	}
	panic("BUG: a live group of no pipeline: " + g.group)
}

func (v *verification) verifies(p *config.Pipeline) bool {
	return slices.ContainsFunc(v.groups, func(g *liveGroup) bool { q, _ := v.half(g); return p == q })
}

// writes reports whether the rows of the pipeline are verified and go to the table.
func (v *verification) writes(p *config.Pipeline, table string) bool {
	return slices.ContainsFunc(v.groups, func(g *liveGroup) bool { return g.group == p.RowsGroup() }) &&
		slices.ContainsFunc(p.Rows, func(r config.Rows) bool { return r.Table == table })
}

// whole makes sure that a full verification knows all that writes its tables and indexes.
func (v *verification) whole() error {
	if !v.cmd.Full {
		return nil
	}
	targets := func(p *config.Pipeline, rows bool) (names []string) {
		for _, r := range p.Rows {
			if rows {
				names = append(names, "table "+r.Table)
			}
		}
		for _, d := range p.Documents {
			if !rows {
				names = append(names, "index "+d.Index)
			}
		}
		return names
	}
	for _, g := range v.groups {
		p, rows := v.half(g)
		for _, q := range v.cfg.Pipelines {
			if v.verifies(q) {
				continue
			}
			for _, name := range targets(p, rows) {
				if slices.Contains(targets(q, rows), name) {
					return fmt.Errorf("--full: %s is also written by pipeline %s, whose rows would count as extra; leave --pipeline out", name, q.Name)
				}
			}
		}
	}
	return nil
}

// openStores opens what the verified halves write to, and no other.
func (v *verification) openStores(ctx context.Context) error {
	for _, g := range v.groups {
		if p, rows := v.half(g); rows {
			if v.service.cluster == nil {
				if err := v.service.openTables(ctx); err != nil {
					return err
				}
			}
			v.addTables(p)
		} else {
			if v.service.engine == nil {
				engine, err := openSearch(v.cfg)
				if err != nil {
					return err
				}
				v.service.engine = engine
			}
			v.addIndexes(p)
		}
	}
	return nil
}

func (v *verification) addTables(p *config.Pipeline) {
	for _, r := range p.Sink().Rows {
		t := verify.Table{Name: r.Table.Name, Store: verify.HBase(v.service.cluster.client, r.Table.Name), Events: r.Table.Row == "event", TTL: r.Table.TTL}
		v.add(t)
	}
}

func (v *verification) addIndexes(p *config.Pipeline) {
	for _, d := range p.Documents {
		t := verify.Table{Name: d.Index, Store: verify.Index(v.service.engine, d.Index), Documents: true, Whole: p.Changes == string(indexer.Whole)}
		if ttl := rowsEnd(v.cfg.Table(cmp.Or(d.Table, p.Rows[0].Table))); ttl > 0 {
			t.TTL = map[string]time.Duration{"": ttl}
		}
		v.add(t)
	}
}

func (v *verification) add(t verify.Table) {
	if !slices.ContainsFunc(v.tables, func(o verify.Table) bool { return o.Name == t.Name && o.Documents == t.Documents }) {
		v.tables = append(v.tables, t)
	}
}

// rowsEnd is when the last cell of a row is past its TTL; 0: never.
func rowsEnd(t *config.Table) (ttl time.Duration) {
	for _, f := range t.Families {
		if f.TTL == 0 {
			return 0
		}
		ttl = max(ttl, f.TTL)
	}
	return ttl
}

// options are those of one verification. The groups are asked where they are.
func (v *verification) options(ctx context.Context) (verify.Options, error) {
	o := verify.Options{Tables: v.tables, Full: v.cmd.Full, Sample: v.cmd.share, Dir: v.cmd.Temp, Hooks: v.hooks()}
	client := kafkaClient(&v.cfg.Kafka)
	for _, g := range v.groups {
		if err := g.ask(ctx, client); err != nil {
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
