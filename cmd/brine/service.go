package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"brine/config"
	"brine/indexer"
	"brine/ingest"
	"brine/internal/backoff"
	"brine/metrics"
	"brine/service/admin"
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
	ends    bool // whether the writers end what is over by its age: where pipelines run, and nowhere else
	log     *slog.Logger
	reg     *prometheus.Registry
	tables  *skew.Tables
	ingest  *metrics.Ingest
	sinks   *metrics.Sink
	indexes *metrics.Indexer
	halves  []*half
	resent  resent
	outages *outages
	admin   *admin.Port
	tracer  *tracing.Tracer // nil: no record is followed

	servers []server // in this process
}

// server is one in this process, that may not be able to write its folder.
type server struct {
	name   string
	broken func() error // why it cannot; nil: it can
}

// newService opens the stores and prepares the loops; nothing is read from Kafka yet.
func newService(ctx context.Context, cfg *config.Config, log *slog.Logger) (*service, error) {
	s := prepareService(cfg, log)
	s.ends = true
	if err := s.open(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// prepareService makes a service that has opened nothing yet.
func prepareService(cfg *config.Config, log *slog.Logger) *service {
	s := &service{cfg: cfg, log: log, reg: prometheus.NewRegistry(), tables: skew.NewTables(time.Now), outages: newOutages(log)}
	s.reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &metrics.Skew{Tables: s.tables, Start: s.startOf}, metrics.Build(version))
	s.ingest = metrics.NewIngest(s.reg)
	s.sinks = metrics.NewSink(s.reg)
	s.indexes = metrics.NewIndexer(s.reg, s.ingest)
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
	if s.admin, err = openAdmin(s.cfg.HTTP.Listen, &s.cfg.HTTP, s.reg, s.healthy, s.ready, s.log); err != nil {
		return err
	}
	serveSkew(s.admin, s.tables)
	s.admin.Handle("GET "+pipelinesPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { admin.WriteJSON(w, http.StatusOK, s.samples()) }))
	return nil
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
	g.Go(func() error { return s.admin.Run(adminCtx) })
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

const createsTopic = "create the topic, or correct pipelines.*.topic"

// awaitTopic has a half whose topic is missing look for it again, slowly, for as long as another half has found its own. A
// pipeline that purges deletes is then held to what the topic keeps, as at the start.
func (s *service) awaitTopic(h *half) func(context.Context, error) error {
	var once sync.Once
	return func(ctx context.Context, missing error) error {
		if !slices.ContainsFunc(s.halves, func(other *half) bool { return !other.loop.Status().NoTopic }) {
			return missing
		}
		once.Do(func() {
			s.log.Error("a pipeline's topic is missing; it waits for it, and holds up no other", "pipeline", h.name, "error", missing, "fix", createsTopic)
		})
		if err := backoff.Wait(ctx, h.opts.HaltPause); err != nil {
			return err
		}
		return s.refuseOutlived(ctx, s.cfg.Pipeline(h.pipeline))
	}
}

// loopError gives a loop's error its exit code.
func loopError(err error) error {
	switch {
	case errors.Is(err, ingest.ErrNoTopic):
		return &exitError{exitMissing, err, createsTopic}
	case errors.Is(err, ingest.ErrUnreachable):
		return &exitError{exitUnreachable, err, "is Kafka running at kafka.brokers?"}
	}
	return err
}

// close ends what run does not: the client and an embedded server.
func (s *service) close() {
	if s.admin != nil {
		_ = s.admin.Close() // run has closed it already, unless it never ran
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
