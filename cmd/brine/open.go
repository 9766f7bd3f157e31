package main

import (
	"context"
	"log/slog"

	"brine/config"
	"brine/console"
	"brine/service"
)

// openService opens the stores that the given halves of the configuration's pipelines write to; nil means all halves. The command ends if
// one of these stores is damaged.
func openService(e *env, cfg *config.Config, purpose service.Purpose, log *slog.Logger, halves ...string) (*service.Service, error) {
	opts := serviceOptions(purpose, log)
	opts.Halves = halves
	return openWith(e, cfg, opts)
}

func openWith(e *env, cfg *config.Config, opts service.Options) (*service.Service, error) {
	s, err := service.Open(e.ctx, cfg, opts)
	if err == nil {
		e.guard(s.Guard)
	}
	return s, err
}

// guard ends the command, with the damage as its error, if a store in this process finds its folder damaged.
func (e *env) guard(store func(context.Context) (context.Context, func(error) error)) {
	ctx, end := store(e.ctx)
	before := e.ended
	e.ctx, e.ended = ctx, func(err error) error { return before(end(err)) }
}

func serviceOptions(purpose service.Purpose, log *slog.Logger) service.Options {
	return service.Options{For: purpose, Log: log, Version: version, Users: console.Users(), Operators: console.Operators()}
}
