package main

import (
	"context"
	"log/slog"

	"brine/config"
	"brine/ingest/offsets"
	"brine/service"
)

// openService opens what halves of a configuration's pipelines write to; nil: all of them.
func openService(ctx context.Context, cfg *config.Config, purpose service.Purpose, log *slog.Logger,
	halves ...string) (*service.Service, error) {
	opts := serviceOptions(cfg, purpose, log)
	opts.Halves = halves
	return service.Open(ctx, cfg, opts)
}

func serviceOptions(cfg *config.Config, purpose service.Purpose, log *slog.Logger) service.Options {
	return service.Options{For: purpose, Log: log, Version: version, Topics: brokerTopics{cfg}}
}

// brokerOffsets asks the brokers of a configuration for offsets.
type brokerOffsets struct{ *offsets.Client }

// Ends gives the errors of the brokers their exit codes.
func (o brokerOffsets) Ends(ctx context.Context, topic string) ([]int64, error) {
	ends, err := o.Client.Ends(ctx, topic)
	return ends, kafkaError(err)
}
