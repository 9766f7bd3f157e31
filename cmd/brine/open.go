package main

import (
	"context"
	"log/slog"

	"brine/config"
	"brine/service"
)

// openService opens what halves of a configuration's pipelines write to; nil: all of them.
func openService(ctx context.Context, cfg *config.Config, purpose service.Purpose, log *slog.Logger,
	halves ...string) (*service.Service, error) {
	opts := serviceOptions(purpose, log)
	opts.Halves = halves
	return service.Open(ctx, cfg, opts)
}

func serviceOptions(purpose service.Purpose, log *slog.Logger) service.Options {
	return service.Options{For: purpose, Log: log, Version: version}
}
