package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"brine/config"
	"brine/forecast"
	"brine/forecast/display"
	"brine/internal/term"
	"brine/schema"
)

type tablesPlanCmd struct {
	configFlag
	timeoutFlag
	Sample   string   `placeholder:"FILE|topic:NAME[@N]" help:"Sample: a file of JSON lines or CSV (also .gz), or topic:NAME@N for the oldest N records of a topic (default 100000). Shows each region's share, where to split, collisions, and what a TTL would hide."`
	Encoding string   `default:"utf-8" placeholder:"NAME" help:"Encoding of the file: utf-8 (default), latin1, windows-1252, gb18030, utf-16le or another name of the WHATWG Encoding Standard."`
	Pipeline []string `placeholder:"NAME" help:"Use the sample only for these pipelines (default: all, or those that read the topic)."`
	Regions  *int     `placeholder:"N" help:"Propose a split into N regions (default: as configured)."`
	Offline  bool     `help:"Do not connect to the cluster: show the plan for an empty cluster."`
	capacityFlags
	JSON bool `help:"Print JSON."`
}

// counting is about what the counts of a sample take in two processors' Tallies.
const counting = 512 << 20

// Help returns the detailed help of the command.
func (tablesPlanCmd) Help() string {
	return `Without --sample: what apply would do. With it: how the sampled rows would spread over regions, where else to split, and
what would go wrong. With --tps and --sample: how many regions, servers and disks the table needs; the figures for a server
are assumptions: replace them with those of yours.

Examples:
  brine tables plan -c examples/scans.yaml
  brine tables plan -c examples/scans.yaml --sample data/scans.jsonl.gz --offline
  brine tables plan -c examples/scans.yaml --sample topic:courier.scans@500000
  brine tables plan -c examples/scans.yaml --sample data/scans.jsonl.gz --offline --tps 250000 --row-bytes 300 --keep 92d`
}

func (c *tablesPlanCmd) Run(e *env) error {
	if c.Sample != "" {
		e.holds = counting
	}
	cfg, err := c.loadAdvised(e)
	if err != nil {
		return err
	}
	if c.TPS > 0 && c.Sample == "" {
		return usage(errors.New("--tps needs --sample: key and cell sizes and compression are measured on it"))
	}
	if c.Regions != nil && *c.Regions < 1 {
		return usage(fmt.Errorf("--regions: a table cannot have %d regions; write 1 or more, or remove the flag", *c.Regions))
	}
	changes, away := c.plan(e, cfg)
	if changes == nil {
		return away
	}
	report, err := c.forecast(e.ctx, cfg)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(e.stdout).Encode(map[string]any{"tables": changes.Tables, "indexes": changes.Indexes, "sample": report})
	} else {
		printChanges(e.stdout, changes)
		colours := term.NewPaint(e.stdout, e.getenv)
		for i := range report {
			display.Report(e.stdout, colours, cfg.Table(report[i].Table).RowKeys(), &report[i])
		}
	}
	if err == nil && c.Sample != "" && !slices.ContainsFunc(report, func(r forecast.Report) bool { return r.Rows > 0 }) {
		// A sample without rows looks like one without faults.
		err = &exitError{exitFailed, errors.New("no event in the sample produces a row; nothing to forecast"),
			"sample the topic, or a file of its records with one JSON object per line"}
	}
	return errors.Join(err, away)
}

// forecast reads the sample, if one is given.
func (c *tablesPlanCmd) forecast(ctx context.Context, cfg *config.Config) ([]forecast.Report, error) {
	if c.Sample == "" {
		return nil, nil
	}
	sample, pipelines, err := openSample(ctx, cfg, c.Sample, c.Encoding, c.Pipeline)
	if err != nil {
		return nil, err
	}
	targets, err := cfg.Forecast(pipelines...)
	if err != nil {
		return nil, usage(err)
	}
	regions := 0 // 0: the configured number
	if c.Regions != nil {
		regions = *c.Regions
	}
	report, err := forecast.Run(ctx, sample, targets, regions)
	if err != nil {
		return nil, sampleError(err)
	}
	if c.TPS == 0 {
		return report, nil
	}
	load, err := c.expected()
	if err != nil {
		return nil, err
	}
	for i := range report {
		if err := report[i].AddCapacity(load); err != nil {
			return nil, usage(fmt.Errorf("--keep: %w; write --keep 92d", err))
		}
	}
	return report, nil
}

// plan returns what apply would do in the stores that it can reach, and the error of one that it cannot.
func (c *tablesPlanCmd) plan(e *env, cfg *config.Config) (changes *schema.Changes, away error) {
	if c.Offline {
		return schema.PlanOffline(cfg)
	}
	away = planChanges(e, cfg, func(_ schema.Stores, found *schema.Changes) error {
		changes = found
		return nil
	})
	return changes, away
}
