package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"brine/config"
	"brine/event"
	"brine/indexer"
	"brine/ingest"
	"brine/lookup"
	"brine/metrics"
	"brine/rowkey"
	"brine/sink"
	"brine/skew"
	"brine/tracing"
)

// service is the pipelines of a configuration at work: the loops, the admin port and what both are watched by. It owns
// nothing that outlives run.
type service struct {
	cfg     *config.Config
	cluster *cluster
	engine  indexer.Engine // nil when no pipeline has documents
	writers []*indexer.Writer
	log     *slog.Logger
	reg     *prometheus.Registry
	tables  *skew.Tables
	ingest  *metrics.Ingest
	sinks   *metrics.Sink
	indexes *metrics.Indexer
	halves  []*half
	resent  resent
	admin   *admin
	tracer  *tracing.Tracer // nil: no record is followed
}

// half is one of a pipeline's two loops: its rows or its documents.
type half struct {
	pipeline string
	kind     string // rows or documents
	name     string // pipeline.kind
	topic    string
	opts     ingest.Options
	loop     *ingest.Loop // nil in a replay

	settled, batches, retries, dead atomic.Int64
	retried                         atomic.Value // event.Reason of the last retry
}

// newService opens the stores and prepares the loops; nothing is read from Kafka yet.
func newService(ctx context.Context, cfg *config.Config, log *slog.Logger) (*service, error) {
	s := prepareService(cfg, log)
	if err := s.open(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// prepareService makes a service that has opened nothing yet.
func prepareService(cfg *config.Config, log *slog.Logger) *service {
	s := &service{cfg: cfg, log: log, reg: prometheus.NewRegistry(), tables: skew.NewTables(time.Now)}
	s.reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &metrics.Skew{Tables: s.tables, Start: s.startOf}, metrics.Build(version))
	s.ingest = metrics.NewIngest(s.reg)
	s.sinks = metrics.NewSink(s.reg)
	s.indexes = metrics.NewIndexer(s.reg)
	s.countLeftOut()
	return s
}

func (s *service) open(ctx context.Context) (err error) {
	if err := s.openTracing(); err != nil {
		return err
	}
	if err := s.openTables(ctx); err != nil {
		return err
	}
	for _, p := range s.cfg.Pipelines {
		if err := s.refuseOutlived(ctx, p); err != nil {
			return err
		}
		if len(p.Rows) > 0 {
			if err := s.addRows(p); err != nil {
				return err
			}
		}
		if len(p.Documents) > 0 {
			if err := s.addDocuments(p); err != nil {
				return err
			}
		}
	}
	if err := s.makeLoops(); err != nil {
		return err
	}
	s.admin, err = newAdmin(s.cfg.HTTP.Listen, s.reg, s.healthy, s.ready, func(mux *http.ServeMux) {
		serveSkew(mux, s.tables)
		mux.HandleFunc("GET "+pipelinesPath, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.samples()) })
	})
	return err
}

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

// addRows prepares the half that writes a pipeline's rows.
func (s *service) addRows(p *config.Pipeline) error {
	opts := p.Sink()
	opts.Hooks = s.warnOnce(p.Name, s.sinks.Hooks(p.Name))
	opts.Hooks.Spread = metrics.Spread(s.tables)
	opts.Hooks.Submit = s.countFields(p)
	mutator, err := s.cluster.client.Mutator(p.Mutator())
	if err != nil {
		return usage(err)
	}
	writer, err := sink.New(sink.HBase(mutator), opts)
	if err != nil {
		return usage(err)
	}
	return s.addHalf(p, "rows", p.RowsGroup(), writer)
}

// addDocuments prepares the half that writes a pipeline's documents. A search engine that does not answer holds up nothing but this half.
func (s *service) addDocuments(p *config.Pipeline) error {
	if s.engine == nil {
		engine, err := openSearch(s.cfg)
		if err != nil {
			return err
		}
		s.engine = engine
	}
	opts := p.Indexer()
	opts.Hooks = s.indexes.Hooks(p.Name)
	opts.Hooks.Expired = func(index string, parts []string, err error) {
		if err != nil {
			s.log.Warn("parts of an index whose rows are over could not be dropped; they are looked at again in an hour", "pipeline", p.Name, "index", index, "error", err)
		}
		for _, part := range parts {
			s.log.Info("dropped a part of an index, whose rows are over by the TTL of their table", "pipeline", p.Name, "index", index, "part", part)
		}
	}
	opts.Hooks.Purged = func(index string, n int, err error) {
		if err != nil {
			s.log.Warn("documents that were deleted long ago could not be removed; they are looked at again in an hour", "pipeline", p.Name, "index", index, "error", err)
		}
		if n > 0 {
			s.log.Info("removed documents that were deleted longer ago than purge_deletes_after", "pipeline", p.Name, "index", index, "documents", n)
		}
	}
	writer, err := indexer.New(s.engine, opts)
	if err != nil {
		return usage(err)
	}
	s.writers = append(s.writers, writer)
	return s.addHalf(p, "documents", p.DocumentsGroup(), writer)
}

// warnOnce adds to the counting hooks a warning that names the first event of each kind that will not be found again.
func (s *service) warnOnce(pipeline string, hooks sink.Hooks) sink.Hooks {
	expired, collision := hooks.Expired, hooks.Collision
	var saidExpired, saidCollision sync.Map
	hooks.Expired = func(table, family string, rec *event.Record) {
		expired(table, family, rec)
		if _, said := saidExpired.LoadOrStore(table+"/"+family, true); !said {
			s.log.Warn("an event is older than the TTL of its family: HBase hides it as it is written; further ones are counted in brine_sink_expired_events_total",
				"pipeline", pipeline, "table", table, "family", family, "topic", rec.Topic, "partition", rec.Partition, "offset", rec.Offset)
		}
	}
	hooks.Collision = func(table string, row []byte) {
		collision(table, row)
		if _, said := saidCollision.LoadOrStore(table, true); !said {
			s.log.Warn("two different events have one row key, and one hides the other; further ones are counted in brine_sink_key_collisions_total",
				"pipeline", pipeline, "table", table, "row", rowkey.Binary(row))
		}
	}
	return hooks
}

func (s *service) addHalf(p *config.Pipeline, kind, group string, w ingest.Writer) error {
	if opts, ok := p.Lookup(); ok {
		completed, err := lookup.New(s.cluster.client, w, opts)
		if err != nil {
			return usage(err)
		}
		w = completed
	}
	h := &half{pipeline: p.Name, kind: kind, name: p.Name + "." + kind, topic: p.Topic, opts: s.cfg.Ingest(p, group)}
	h.opts.Writer = w
	h.opts.Hooks = h.watch(s.ingest.Hooks(p.Name, kind))
	if s.tracer != nil {
		h.opts.Hooks.Flight = s.tracer.Flight(p.Name, kind)
	}
	h.opts.Logger = s.log.With("pipeline", h.name)
	s.halves = append(s.halves, h)
	return nil
}

// makeLoops makes each half a member of its group to be.
func (s *service) makeLoops() error {
	for _, h := range s.halves {
		loop, err := ingest.New(h.opts)
		if err != nil {
			return usage(err)
		}
		h.loop = loop
		s.ingest.Watch(h.pipeline, h.kind, loop.Status, h.opts.Budget)
	}
	return nil
}

// watch adds the live line's counters to the hooks.
func (h *half) watch(hooks ingest.Hooks) ingest.Hooks {
	settled, submitted, retried, dead := hooks.Settled, hooks.Submitted, hooks.Retried, hooks.DeadLettered
	hooks.Settled = func(p, n int) { settled(p, n); h.settled.Add(int64(n)) }
	hooks.Submitted = func(p, n int) { submitted(p, n); h.batches.Add(1) }
	hooks.Retried = func(p, n int, r event.Reason) { retried(p, n, r); h.retries.Add(int64(n)); h.retried.Store(r) }
	hooks.DeadLettered = func(p, n int, r event.Reason) { dead(p, n, r); h.dead.Add(int64(n)) }
	return hooks
}

// run works until ctx ends, then drains and commits; or until a loop fails.
func (s *service) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	loops, ctxLoops := errgroup.WithContext(ctx)
	for _, h := range s.halves {
		loops.Go(func() error {
			if err := h.loop.Run(ctxLoops); err != nil {
				return fmt.Errorf("%s: %w", h.name, loopError(err))
			}
			return nil
		})
	}
	adminCtx, stopAdmin := context.WithCancel(context.WithoutCancel(ctx)) // the port stays while the loops drain
	g.Go(func() error {
		defer stopAdmin()
		return loops.Wait()
	})
	g.Go(func() error { return s.admin.run(adminCtx) })
	g.Go(func() error {
		s.watchSkew(adminCtx)
		return nil
	})
	g.Go(func() error {
		holdHeap(adminCtx, int64(s.cfg.Memory))
		return nil
	})
	return g.Wait()
}

// loopError gives a loop's error its exit code.
func loopError(err error) error {
	switch {
	case errors.Is(err, ingest.ErrNoTopic):
		return &exitError{exitMissing, err, "create the topic, or mend pipelines.*.topic"}
	case errors.Is(err, ingest.ErrUnreachable):
		return &exitError{exitUnreachable, err, "is Kafka running at kafka.brokers?"}
	}
	return err
}

// close ends what run does not: the client and an embedded server.
func (s *service) close() {
	if s.admin != nil {
		_ = s.admin.listener.Close() // run has closed it already, unless it never ran
	}
	for _, w := range s.writers {
		closing("the indexer", w)
	}
	if s.engine != nil {
		closing("the search engine", s.engine)
	}
	if s.cluster != nil {
		s.cluster.Close()
	}
	s.closeTracing()
}

// samples is the state of every half for the live line.
func (s *service) samples() []reading {
	out := make([]reading, 0, len(s.halves))
	for _, h := range s.halves {
		status := h.loop.Status()
		smp := reading{Name: h.name, Events: h.settled.Load(), Batches: h.batches.Load(), Dead: h.dead.Load(), Lag: -1}
		smp.Retries, smp.Retried = s.retriesOf(h)
		smp.Regions = s.regionsOf(h)
		if status.Joined {
			smp.Lag = 0
		}
		for _, p := range status.Partitions {
			smp.Lag += p.Lag()
			if p.State == ingest.Halted || p.State == ingest.Waiting || p.State == ingest.Retrying {
				smp.Waiting = fmt.Sprintf("partition %d is %s: %s", p.Partition, p.State, p.Detail)
			}
		}
		out = append(out, smp)
	}
	return out
}

// regionsOf is the number of regions that a half writes to; 0 for documents.
func (s *service) regionsOf(h *half) (n int) {
	if p := s.cfg.Pipeline(h.pipeline); h.kind == "rows" {
		for _, r := range p.Rows {
			n += s.tables.Counter(r.Table, skew.Shape{}).Regions()
		}
	}
	return n
}

// retriesOf is what a half wrote again, the store's client by itself or the loop, and why it did so last.
func (s *service) retriesOf(h *half) (n int64, reason string) {
	n = h.retries.Load()
	if r, ok := h.retried.Load().(event.Reason); ok {
		reason = string(r)
	}
	if p := s.cfg.Pipeline(h.pipeline); h.kind == "rows" {
		again, class := s.resent.of(p)
		n, reason = n+again, cmp.Or(class, reason)
	}
	return n, reason
}

// healthy is the health of the whole process: watermarks that move, not a process that is there.
func (s *service) healthy() (any, error) {
	var problems []error
	detail := map[string]any{}
	for _, h := range s.halves {
		status := h.loop.Status()
		detail[h.name] = status
		for _, p := range status.Problems(time.Now(), s.cfg.HTTP.Stall) {
			if _, why := s.retriesOf(h); why != "" {
				p += "; last retry because of " + why
			}
			problems = append(problems, fmt.Errorf("%s: %s", h.name, p))
		}
	}
	return detail, errors.Join(problems...)
}

// ready is healthy, and every loop a member of its group.
func (s *service) ready() (any, error) {
	detail, err := s.healthy()
	for _, h := range s.halves {
		if !h.loop.Status().Joined {
			err = errors.Join(err, fmt.Errorf("%s: not yet a member of its group", h.name))
		}
	}
	return detail, err
}
