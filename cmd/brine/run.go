package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"brine/config"
	"brine/service"
	"brine/service/brokers"
)

type runCmd struct {
	configFlag
	Pipeline []string      `placeholder:"NAME,…" help:"Run only these pipelines (default: all)."`
	For      time.Duration `help:"Stop after this long."`
	UntilEnd bool          `help:"Stop once all records that were in the topics at the start are settled."`
	JSON     bool          `help:"Print progress as JSON lines."`
	Serve    bool          `help:"Also serve the HTTP API and the consoles, as brine serve does."`
	Watch    bool          `help:"Reload the configuration when its file changes, as SIGHUP and brine reload do."`
	Quiet    bool          `short:"q" help:"Print no progress, only the summary at the end."`
}

// Help returns the detailed help of the command.
func (runCmd) Help() string {
	return `SIGTERM and SIGINT drain: what was fetched is settled and committed, then brine exits with 0. SIGHUP reloads the
configuration. A pipeline whose records are all rejected halts (halt_after_rejects), and brine then exits with 9.
The lag is in offsets, an upper bound of the records.

Examples:
  brine tables apply -c examples/scans.yaml && brine run -c examples/scans.yaml
  brine run -c examples/scans.yaml --until-end
  brine run -c brine.yaml --pipeline scans,orders
  BRINE_KAFKA_BROKERS=kafka:9092 BRINE_HBASE_CONNECT=rpc://master:16000 brine run -c brine.yaml`
}

func (c *runCmd) Run(e *env) error {
	signals, stop := hangups()
	defer stop()
	watched := c.watched()
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	if cfg, err = somePipelines(cfg, c.Pipeline); err != nil {
		return err
	}
	log, done := newLog(e, slog.LevelInfo)
	defer done()
	opts := serviceOptions(service.ToRun, log)
	opts.Source = c.source(e)
	s, err := openWith(e, cfg, opts)
	if err != nil {
		return unlessStopped(e.ctx, err)
	}
	defer s.Close()
	fmt.Fprintf(e.stderr, "brine: metrics and health on %s (/metrics, /healthz, /readyz, %s)\n", s.URL(), service.SkewPath)
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	if c.For > 0 {
		time.AfterFunc(c.For, cancel)
	}
	if c.Serve {
		served, err := c.serve(ctx, e, s, log)
		if err != nil {
			return unlessStopped(e.ctx, err)
		}
		defer func() { cancel(); served() }() // before the stores are closed
	}
	go s.ReloadWhen(ctx, signals, watched)
	ended := make(chan error, 1)
	if c.UntilEnd {
		go func() {
			defer cancel()
			offsets := brokers.Offsets{Client: brokers.Open(&cfg.Kafka)}
			defer offsets.Close()
			ended <- s.UntilEnd(ctx, offsets)
		}()
	} else {
		ended <- nil
	}
	out := e.stdout
	if c.Quiet {
		out = io.Discard
	}
	err = watch(ctx, s, newLive(out, c.JSON, s.Status))
	cancel()
	halted := printSummaries(e.stdout, s, c.JSON)
	if err != nil || halted != nil {
		return cmp.Or(err, halted)
	}
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("--until-end: %w", err)
	}
	return nil
}

// serve starts the APIs beside the pipelines. The returned wait waits until they have stopped.
func (c *runCmd) serve(ctx context.Context, e *env, s *service.Service, log *slog.Logger) (wait func(), err error) {
	if len(c.Pipeline) > 0 {
		return nil, usage(errors.New("--serve serves what all pipelines write; remove --pipeline"))
	}
	api, err := openAPIs(ctx, s, log)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(e.stderr, "brine: operators' port on %s\nbrine: serving %s/api/v1/docs\n", api.ops.URL(), api.users.URL())
	return api.start(ctx, log), nil
}

// somePipelines returns the configuration reduced to the named pipelines, or unchanged if none is named.
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
	return service.Only(cfg, only...), nil
}

// unlessStopped returns nil if ctx is done: a start that was asked to stop has not failed, because nothing had begun.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// watch runs the service with its live line until ctx is done.
func watch(ctx context.Context, s *service.Service, l *live) error {
	lineCtx, stopLine := context.WithCancel(context.WithoutCancel(ctx)) // the line goes on while the loops drain
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		l.run(lineCtx)
	}()
	err := s.Run(ctx)
	stopLine()
	<-drawn
	return err
}
