package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/config"
	"brine/indexer"
	"brine/plan"
)

type tablesPlanCmd struct {
	configFlag
	timeoutFlag
	Sample   string   `placeholder:"FILE|topic:NAME[@N]" help:"JSON lines or CSV as brine publish takes them (also .gz), or the oldest N records (default 100000) of a topic: show each region's share of them, where to split, collisions and what a TTL would hide."`
	Pipeline []string `placeholder:"NAME" help:"Take the sample for these pipelines only (default: all, or those that read the topic)."`
	Regions  *int     `placeholder:"N" help:"Propose a split into N regions (default: as many as are configured)."`
	Offline  bool     `help:"Do not ask the cluster: show what would be made on an empty one."`
	capacityFlags
	JSON bool `help:"Print JSON."`
}

// Help is shown under the command's own help.
func (tablesPlanCmd) Help() string {
	return `Without --sample: what apply would do. With it: how the sampled rows would spread over regions, where else to split, and
what would go wrong. With --tps and --sample: how many regions, servers and disks the table needs; the numbers of a server
are assumptions, to be replaced by what yours do.

Examples:
  brine tables plan -c examples/scans.yaml
  brine tables plan -c examples/scans.yaml --sample data/scans.jsonl.gz --offline
  brine tables plan -c examples/scans.yaml --sample topic:courier.scans@500000
  brine tables plan -c examples/scans.yaml --sample data/scans.jsonl.gz --offline --tps 250000 --row-bytes 300 --keep 92d`
}

// capacityFlags say what a table has to bear, and on what.
type capacityFlags struct {
	TPS        float64         `name:"tps" placeholder:"N" help:"Rows written in a second: show the capacity that they need."`
	RowBytes   config.Bytes    `placeholder:"SIZE" help:"Bytes of a row with its keys, before compression (default: as measured on the sample)."`
	Keep       config.Duration `placeholder:"TIME" help:"How long rows are kept, as 92d (default: the longest ttl of the table's families)."`
	Needs      []string        `enum:"transactions,two-orders,full-scans," placeholder:"NEED" help:"What is asked of the store besides: transactions (over several rows), two-orders (the same rows read forwards and backwards), full-scans."`
	ServerHeap config.Bytes    `default:"32GiB" help:"Heap of a region server."`
	ServerDisk config.Bytes    `default:"16TiB" help:"Disk of a region server."`
	ServerRows float64         `default:"25000" help:"Rows that a region server writes in a second, compactions included."`
}

func (c *tablesPlanCmd) Run(e *env) error {
	cfg, err := c.loadAdvised(e)
	if err != nil {
		return err
	}
	if c.TPS > 0 && c.Sample == "" {
		return usage(errors.New("--tps needs --sample: key and cell sizes and compression are measured on it"))
	}
	if c.Regions != nil && *c.Regions < 1 {
		return usage(fmt.Errorf("--regions: a table cannot have %d regions; ask for 1 or more, or leave the flag out", *c.Regions))
	}
	var steps []tableStep
	var indexes []indexStep
	if c.Offline {
		steps, err = planOffline(cfg)
	} else {
		steps, indexes, err = c.planOnline(e.ctx, cfg)
	}
	if err != nil {
		return err
	}
	seen, err := c.foresee(e.ctx, cfg)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := json.NewEncoder(e.stdout).Encode(map[string]any{"tables": steps, "indexes": indexes, "sample": seen.foresights}); err != nil {
			return err
		}
		return seen.check()
	}
	printSteps(e.stdout, steps)
	printIndexSteps(e.stdout, indexes)
	seen.print(e)
	return seen.check()
}

// foreseen is what was foreseen of a sample.
type foreseen struct {
	source     sampleSource
	foresights []foresight
}

// check fails when nothing was foreseen: a sample without any row looks like one without faults.
func (s foreseen) check() error {
	if s.source == nil || slices.ContainsFunc(s.foresights, func(f foresight) bool { return f.Rows > 0 }) {
		return nil
	}
	return &exitError{exitFailed, errors.New("no event of the sample has a row: nothing is foreseen"), "sample the topic, or a file of its records, one JSON object a line"}
}

func (c *tablesPlanCmd) foresee(ctx context.Context, cfg *config.Config) (out foreseen, err error) {
	if c.Sample == "" {
		return out, nil
	}
	for _, name := range c.Pipeline {
		if cfg.Pipeline(name) == nil {
			return out, usage(fmt.Errorf("--pipeline: there is no pipeline %s", name))
		}
	}
	if out.source, err = openSample(ctx, cfg, c.Sample, c.Pipeline...); err != nil {
		return out, err
	}
	regions := 0 // as many as are configured
	if c.Regions != nil {
		regions = *c.Regions
	}
	if out.foresights, err = foreseeSample(ctx, cfg, out.source, regions, c.Pipeline...); err != nil || c.TPS == 0 {
		return out, err
	}
	for i := range out.foresights {
		f := &out.foresights[i]
		if f.Rows == 0 {
			continue
		}
		load, err := c.load1(f.table)
		if err != nil {
			return out, err
		}
		f.Capacity = f.Sheet(load)
	}
	return out, nil
}

// load1 is what one table has to bear.
func (c *capacityFlags) load1(t *config.Table) (plan.Load, error) {
	l := plan.Load{Rows: c.TPS, RowBytes: float64(c.RowBytes), Keep: time.Duration(c.Keep),
		Server: plan.Server{Heap: int64(c.ServerHeap), Disk: int64(c.ServerDisk), Rows: c.ServerRows}}
	for _, n := range c.Needs {
		l.Needs = append(l.Needs, plan.Need(n))
	}
	for _, f := range t.Families {
		if c.Keep == 0 {
			l.Keep = max(l.Keep, f.TTL)
		}
		if c.Keep == 0 && f.TTL == 0 {
			return l, usage(fmt.Errorf("--keep: family %s of %s has no ttl, so how long its rows are kept is not known; write --keep 92d", f.Name, t.Name))
		}
	}
	if l.Server.Heap <= 0 || l.Server.Disk <= 0 || l.Server.Rows <= 0 || l.Rows < 0 {
		return l, usage(errors.New("--tps, --server-heap, --server-disk and --server-rows are greater than 0"))
	}
	return l, nil
}

// planOnline asks the servers that the configuration names.
func (c *tablesPlanCmd) planOnline(ctx context.Context, cfg *config.Config) ([]tableStep, []indexStep, error) {
	cluster, err := openHBase(ctx, cfg, cfg.HBase())
	if err != nil {
		return nil, nil, err
	}
	defer cluster.Close()
	steps, err := planTables(ctx, cfg, cluster.client)
	if err != nil {
		return nil, nil, err
	}
	indexes, err := withSearch(cfg, func(engine indexer.Engine) ([]indexStep, error) { return planIndexes(ctx, cfg, engine) })
	return steps, indexes, err
}
