package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"brine/serve"
	"brine/service"
	"brine/service/operations"
)

// apis are the HTTP API of a service for users, and for operators.
type apis struct{ users, ops *serve.Server }

func openAPIs(ctx context.Context, s *service.Service, log *slog.Logger) (a apis, err error) {
	if a.users, err = s.API(ctx); err != nil {
		return a, err
	}
	if a.ops, err = s.OpsAPI(ctx, operations.New(s, log)); err != nil {
		return a, errors.Join(err, a.users.Close())
	}
	return a, nil
}

// close closes those that may never have run.
func (a apis) close() {
	_, _ = a.users.Close(), a.ops.Close() // those that ran have closed already
}

// start serves beside pipelines, which go on if it fails, until ctx ends; wait returns once all is answered.
func (a apis) start(ctx context.Context, log *slog.Logger) (wait func()) {
	var served sync.WaitGroup
	for _, server := range []*serve.Server{a.users, a.ops} {
		served.Go(func() {
			if err := server.Run(ctx); err != nil {
				log.Error("the HTTP API has ended", "error", err)
			}
		})
	}
	return served.Wait
}
