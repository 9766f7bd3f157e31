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

// apis are a service's HTTP APIs: one for users, one for operators.
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

// close closes both APIs, which may never have run.
func (a apis) close() {
	_, _ = a.users.Close(), a.ops.Close() // an API that has run is already closed
}

// start serves the APIs until ctx is done. The pipelines go on if it fails. The returned wait returns once all requests are answered.
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
