package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/config"
	bleve "brine/indexer/embedded"
	"brine/schema"

	"brine/hbase"
	"brine/internal/fault"
	"brine/metrics"
	"brine/service/mapstore"
	"brine/service/stores"
	"brine/skew"
)

// openStores opens the stores that the halves write to or look keys up in, and no others. A service opened ToRun always has an HBase
// client.
func (s *Service) openStores(ctx context.Context) error {
	looksUp := func(h *Half) bool { _, ok := h.pipeline.Lookup(); return ok }
	if s.opts.For == ToRun || slices.ContainsFunc(s.all(), func(h *Half) bool { return h.kind == Rows || looksUp(h) }) {
		if err := s.openTables(ctx); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(s.all(), func(h *Half) bool { return h.kind == Documents }) {
		return s.openSearch()
	}
	return nil
}

// openSearch opens the search engine. An engine that does not answer blocks only the halves that write to it.
func (s *Service) openSearch() (err error) {
	if with := s.opts.Stores; with != nil && with.engine != nil {
		s.engine = with.engine
		return nil
	}
	if s.engine, err = stores.OpenSearch(s.Config()); err != nil {
		return err
	}
	if embedded, ok := s.engine.(*bleve.Engine); ok {
		s.servers = append(s.servers, Server{"the embedded index", embedded.Broken})
	}
	return nil
}

// openTables connects to HBase and checks that the tables exist.
func (s *Service) openTables(ctx context.Context) (err error) {
	if with := s.opts.Stores; with != nil && with.hbase != nil {
		s.hbase = with.hbase
		return s.knowTables(ctx)
	}
	opts := s.Config().HBase()
	opts.Hooks = measureCalls(s.traceCalls(s.outages.HBase(s.resent.watch(metrics.HBase(s.registry, s.tables)))))
	opts.Hooks.Untested = func(i hbase.UntestedInfo) { s.log.Warn(stores.Untested(i.Version)) }
	if s.hbase, err = stores.OpenHBase(ctx, s.Config(), opts, s.log); err != nil {
		return err
	}
	if s.hbase.Server != nil {
		s.servers = append(s.servers, Server{"the embedded HBase", s.hbase.Server.Broken})
	}
	s.registry.MustRegister(metrics.Lanes{Stats: s.hbase.Client.Stats})
	if table := s.Config().Map.History; table != "" {
		s.maps = mapstore.Open(mapstore.Options{Client: s.hbase.Client, Table: table, Tables: s.tables, Log: s.log,
			Hooks: metrics.Maps(s.registry)})
	}
	return s.knowTables(ctx)
}

// keepMaps keeps the history of the maps, if it is kept, until ctx is done.
func (s *Service) keepMaps(ctx context.Context) {
	if s.maps != nil {
		s.maps.Run(ctx)
	}
}

// knowTables checks that the tables exist, and creates their skew counters.
func (s *Service) knowTables(ctx context.Context) error {
	cfg := s.Config()
	if err := s.checkTables(ctx, cfg); err != nil {
		return err
	}
	for _, t := range cfg.Tables {
		if err := s.learnRegions(ctx, cfg, t.Name); err != nil {
			return err
		}
	}
	return nil
}

// findTables is checkTables without a master: hbase:meta lists the tables, but not their families.
func (s *Service) findTables(ctx context.Context, cfg *config.Config) error {
	var missing []error
	for _, t := range cfg.Tables {
		if _, err := s.hbase.Client.Regions(ctx, t.Name); errors.Is(err, hbase.ErrNoTable) {
			missing = append(missing, fmt.Errorf("table %s does not exist", t.Name))
		} else if err != nil {
			return err
		}
	}
	return missingTables(missing, createsTables)
}

// checkTables checks that every table and family of a configuration exists, before any record is read by it.
func (s *Service) checkTables(ctx context.Context, cfg *config.Config) error {
	if _, err := s.hbase.Client.Master(ctx); errors.Is(err, hbase.ErrNoMaster) {
		s.log.Warn("cannot check the tables against the configuration", "reason", err)
		return s.findTables(ctx, cfg)
	}
	changes, err := schema.Plan(ctx, cfg, schema.Stores{Cluster: s.hbase.Client})
	if err != nil {
		return err
	}
	var missing []error
	var fixes []string
	for _, step := range changes.Tables {
		if step.Action == schema.Create {
			missing = append(missing, fmt.Errorf("table %s does not exist", step.Table))
			fixes = append(fixes, createsTables)
			continue
		}
		for _, d := range step.Changes {
			if d.MissingFamily() {
				missing = append(missing, fmt.Errorf("table %s: %s", step.Table, d))
				fixes = append(fixes, "brine tables apply -c FILE adds it")
			} else {
				s.log.Warn("table differs from the configuration", "table", step.Table, "difference", d.String())
			}
		}
	}
	return missingTables(missing, fixes...)
}

const createsTables = "brine tables apply -c FILE creates missing tables"

// missingTables returns an error for what is missing, or nil.
func missingTables(missing []error, fixes ...string) error {
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(fixes)
	return fault.New(fault.Missing, errors.Join(missing...), strings.Join(slices.Compact(fixes), "; "))
}

// learnRegions creates the skew counter of a table with its regions and salt buckets.
func (s *Service) learnRegions(ctx context.Context, cfg *config.Config, table string) error {
	regions, err := s.hbase.Client.Regions(ctx, table)
	if err != nil {
		return err
	}
	s.tables.Counter(table, shapeOf(cfg, table)).SetRegions(SkewRegions(regions))
	return nil
}

// shapeOf returns what the skew counter of a table may know of its keys.
func shapeOf(cfg *config.Config, table string) skew.Shape {
	shape := ShapeOf(cfg.Table(table).RowKeys())
	if cfg.Mask().MasksKey(table) { // then keys are neither counted by content nor shown
		shape.Head, shape.Text = func([]byte) int { return 0 }, func([]byte) string { return "" }
	}
	return shape
}

// maskSkew resets what the skew counters know of keys and fields, for tables whose masking has changed.
func (s *Service) maskSkew(before, cfg *config.Config) {
	for _, name := range s.tables.Names() {
		if cfg.Table(name) == nil { // no longer written
			continue
		}
		if before.Table(name) == nil || !slices.Equal(maskedInSkew(before, name), maskedInSkew(cfg, name)) {
			s.tables.Counter(name, skew.Shape{}).Reshape(shapeOf(cfg, name))
		}
	}
}

// maskedInSkew returns what is masked of the things that a table's skew counter counts: its key (as an empty name), hot fields, and headers
// that name the writer.
func maskedInSkew(cfg *config.Config, table string) (names []string) {
	if cfg.Mask().MasksKey(table) {
		names = append(names, "")
	}
	for _, p := range cfg.Pipelines {
		if len(p.Rows) > 0 && p.Writes(table) && p.MasksWriter() {
			names = append(names, p.Name+".$header."+p.WriterHeader)
		}
		for _, name := range p.HotFields {
			if len(p.Rows) > 0 && p.Rows[0].Table == table && cfg.Mask().MasksField(p.Name, name) {
				names = append(names, p.Name+"."+name)
			}
		}
	}
	return names
}
