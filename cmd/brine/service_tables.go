package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/hbase"
	"brine/metrics"
)

// openTables connects to HBase and makes sure that the tables are there: with the master's help if it is not away.
func (s *service) openTables(ctx context.Context) (err error) {
	opts := s.cfg.HBase()
	opts.Hooks = s.traceCalls(s.outages.hbase(s.resent.watch(metrics.HBase(s.reg, s.tables))))
	opts.Hooks.Untested = func(version string) { s.log.Warn(untested(version)) }
	if s.cluster, err = openHBase(ctx, s.cfg, opts); err != nil {
		return err
	}
	if s.cluster.server != nil {
		s.servers = append(s.servers, server{"the embedded HBase", s.cluster.server.Broken})
	}
	s.reg.MustRegister(metrics.Lanes{Stats: s.cluster.client.Stats})
	if _, err := s.cluster.client.Master(ctx); errors.Is(err, hbase.ErrNoMaster) {
		s.log.Warn("whether the tables are as configured is not checked", "reason", err)
		return s.findTables(ctx)
	}
	return s.checkTables(ctx)
}

// findTables is checkTables without a master: from hbase:meta it is known which tables there are, but not their families.
func (s *service) findTables(ctx context.Context) error {
	var missing []error
	for _, t := range s.cfg.Tables {
		if err := s.learnRegions(ctx, t.Name); errors.Is(err, hbase.ErrNoTable) {
			missing = append(missing, fmt.Errorf("table %s does not exist", t.Name))
		} else if err != nil {
			return err
		}
	}
	return missingTables(missing, []string{createsTables})
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
			hints = append(hints, createsTables)
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
	return missingTables(missing, hints)
}

const createsTables = "brine tables apply -c FILE creates tables that are missing"

// missingTables is the error of what is missing, if anything is.
func missingTables(missing []error, hints []string) error {
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(hints)
	return &exitError{exitMissing, errors.Join(missing...), strings.Join(slices.Compact(hints), "; ")}
}

func (s *service) learnRegions(ctx context.Context, table string) error {
	regions, err := s.cluster.client.Regions(ctx, table)
	if err != nil {
		return err
	}
	s.tables.Counter(table, shapeOf(s.cfg.Table(table).RowKeys())).SetRegions(knownRegions(regions))
	return nil
}
