package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/config"
	"brine/indexer"
	"brine/metrics"
	"brine/verify"
)

// verification is a verify command with its stores open.
type verification struct {
	cmd     *verifyCmd
	cfg     *config.Config
	kafka   *kafka.Client // one for all rounds: each has connections of its own
	groups  []*liveGroup  // what is verified: halves of pipelines
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
	v := &verification{cmd: c, cfg: cfg, kafka: kafkaClient(&cfg.Kafka), screen: newVerifyScreen(e.stdout, c.JSON, c.Quiet)}
	if v.groups, err = c.groups(e.ctx, cfg, v.kafka); err != nil {
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
		p, rows := v.half(g)
		if _, completes := p.Lookup(); (rows || completes) && v.service.cluster == nil {
			if err := v.service.openTables(ctx); err != nil {
				return err
			}
		}
		if rows {
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
	made := p.Indexer().Documents
	for i, d := range p.Documents {
		t := verify.Table{Name: d.Index, Store: verify.Index(v.service.engine, d.Index, partOf(&made[i])), Documents: true, Whole: p.Changes == string(indexer.Whole),
			Purge: made[i].Purge}
		if ttl := rowsEnd(v.cfg.Table(cmp.Or(d.Table, p.Rows[0].Table))); ttl > 0 {
			t.TTL = map[string]time.Duration{"": ttl}
		}
		v.add(t)
	}
}

// partOf names the part of an index that holds a document, by the time in its row key; nil where there are no parts.
func partOf(d *indexer.Document) func(id []byte) string {
	at := slices.Index(d.Key.Fields(), d.Time)
	if d.Every == "" || at < 0 {
		return nil
	}
	return func(id []byte) string {
		row, err := indexer.ParseRowText(id)
		if err != nil {
			return d.Index
		}
		values, err := d.Key.Decode(row)
		if err != nil {
			return d.Index
		}
		return d.Every.Part(d.Index, values[at].Int)
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
