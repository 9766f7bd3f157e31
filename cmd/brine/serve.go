package main

import (
	"fmt"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"brine/service"
	"brine/service/admin"
)

type serveCmd struct {
	configFlag
	Metrics string `placeholder:"HOST:PORT" help:"Serve metrics and health at this address, as http.listen does for brine run."`
}

// Help returns the detailed help of the command.
func (serveCmd) Help() string {
	return `Serves the views and tables of a configuration over HTTP, at serve.listen (127.0.0.1:8090): /api/v1/docs describes the routes for
people, /api/v1/openapi.json for programs. Without accounts it answers this machine only; "brine account add" creates the first one. On
SIGTERM and SIGINT it answers pending requests and ends. "brine run --serve" serves beside the pipelines, in one process.

Examples:
  brine serve -c examples/shop.yaml
  curl -s 'http://127.0.0.1:8090/api/v1/views/waybill?waybill=UA-1545-20130101-EWR'
  BRINE_SERVE_LISTEN=127.0.0.1:0 brine serve -c brine.yaml --metrics 127.0.0.1:8766`
}

func (c *serveCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	log, done := newLog(e, slog.LevelInfo)
	defer done()
	s, err := openService(e, cfg, service.ToRead, log)
	if err != nil {
		return unlessStopped(e.ctx, err)
	}
	defer s.Close()
	api, err := openAPIs(e.ctx, s, log)
	if err != nil {
		return unlessStopped(e.ctx, err)
	}
	defer api.close()
	g, ctx := errgroup.WithContext(e.ctx)
	fmt.Fprintf(e.stderr, "brine: operators' port on %s\n", api.ops.URL())
	g.Go(func() error { return api.ops.Run(ctx) })
	if c.Metrics != "" {
		port, err := c.port(s)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "brine: metrics and health on %s\n", port.URL())
		g.Go(func() error { return port.Run(ctx) })
	}
	g.Go(func() error { s.KeepReads(ctx); return nil })
	fmt.Fprintf(e.stderr, "brine: serving %s/api/v1/docs (%d views, %d tables)\n", api.users.URL(), len(cfg.Views), len(cfg.Tables))
	g.Go(func() error { return api.users.Run(ctx) })
	return g.Wait()
}

// port opens the metrics port. Health reports that the server runs; a store that is unreachable shows in the answers instead.
func (c *serveCmd) port(s *service.Service) (*admin.Port, error) {
	serving := func() (any, error) { return "serving", nil }
	return s.Port(c.Metrics, "--metrics", serving, serving)
}
