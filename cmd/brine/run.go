package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"
)

type runCmd struct {
	configFlag
	For      time.Duration `help:"Stop by itself after this long."`
	UntilEnd bool          `help:"Stop once every record that the topics held at the start is settled."`
	JSON     bool          `help:"Print progress as JSON lines."`
	Quiet    bool          `short:"q" help:"Print no progress."`
}

// Help is shown under the command's own help.
func (runCmd) Help() string {
	return `SIGTERM and SIGINT drain: what was fetched is settled and committed, then brine exits with 0.

Examples:
  brine tables apply -c examples/scans.yaml && brine run -c examples/scans.yaml
  brine run -c examples/scans.yaml --until-end
  BRINE_KAFKA_BROKERS=kafka:9092 BRINE_HBASE_CONNECT=rpc://master:16000 brine run -c brine.yaml`
}

func (c *runCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(e.stderr, nil))
	s, err := newService(e.ctx, cfg, log)
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Fprintf(e.stderr, "brine: metrics and health on http://%s (/metrics, /healthz, /readyz, /debug/skew)\n", s.admin.addr())
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	if c.For > 0 {
		time.AfterFunc(c.For, cancel)
	}
	if c.UntilEnd {
		go func() {
			if err := s.untilEnd(ctx); err != nil && ctx.Err() == nil {
				log.Error("--until-end", "error", err)
			}
			cancel()
		}()
	}
	out := e.stdout
	if c.Quiet {
		out = io.Discard
	}
	return watch(ctx, s, newLive(out, c.JSON, s.samples))
}

// watch runs the service with its live line until ctx ends.
func watch(ctx context.Context, s *service, l *live) error {
	lineCtx, stopLine := context.WithCancel(context.WithoutCancel(ctx)) // the line goes on while the loops drain
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		l.run(lineCtx)
	}()
	err := s.run(ctx)
	stopLine()
	<-drawn
	return err
}
