package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/metrics"
)

// openTables connects to HBase and makes sure that the tables are there.
func (s *service) openTables(ctx context.Context) (err error) {
	opts := s.cfg.HBase()
	opts.Hooks = s.traceCalls(s.resent.watch(metrics.HBase(s.reg, s.tables)))
	opts.Hooks.Untested = func(version string) { s.log.Warn(untested(version)) }
	if s.cluster, err = openHBase(ctx, s.cfg, opts); err != nil {
		return err
	}
	s.reg.MustRegister(metrics.Lanes{Stats: s.cluster.client.Stats})
	return s.checkTables(ctx)
}

// checkTables makes sure that every table and family is there before a record is read, and makes the skew counters, which then
// know all regions and salt buckets.
func (s *service) checkTables(ctx context.Context) error {
	steps, err := planTables(ctx, s.cfg, s.cluster.client)
	if err != nil {
		return err
	}
	var missing []error
	var hints []string
	for _, step := range steps {
		if step.Action == "create" {
			missing = append(missing, fmt.Errorf("table %s does not exist", step.Table))
			hints = append(hints, "brine tables apply -c FILE creates tables that are missing")
			continue
		}
		for _, d := range step.Changes {
			if d.missingFamily() {
				missing = append(missing, fmt.Errorf("table %s: %s", step.Table, d))
				hints = append(hints, "brine tables apply -c FILE adds it")
			} else {
				s.log.Warn("table differs from the configuration", "table", step.Table, "difference", d.String())
			}
		}
		if err := s.learnRegions(ctx, step.Table); err != nil {
			return err
		}
	}
	if err := errors.Join(missing...); err != nil {
		slices.Sort(hints)
		return &exitError{exitMissing, err, strings.Join(slices.Compact(hints), "; ")}
	}
	return nil
}

func (s *service) learnRegions(ctx context.Context, table string) error {
	regions, err := s.cluster.client.Regions(ctx, table)
	if err != nil {
		return err
	}
	s.tables.Counter(table, shapeOf(s.cfg.Table(table).RowKey())).SetRegions(knownRegions(regions))
	return nil
}
