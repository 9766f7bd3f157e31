package service

import (
	"context"
	"errors"

	"brine/internal/fault"
	"brine/metrics"
	"brine/serve"
	"brine/service/admin"
	"brine/tracing"
)

// API opens the HTTP API over the service's stores. It is the caller's, who runs and closes it before the service; it is opened once.
func (s *Service) API() (*serve.Server, error) {
	o, err := s.cfg.API()
	if err != nil {
		return nil, fault.Misused(err)
	}
	if s.hbase == nil {
		return nil, fault.Misused(errors.New("no pipeline writes rows, so there is nothing to serve"))
	}
	o.Rows, o.Version, o.Log, o.Hooks = s.hbase.Client, s.opts.Version, s.log, metrics.NewServe(s.registry).Hooks()
	if s.engine != nil {
		o.Docs = tracing.Searcher(s.engine)
	}
	if s.tracer == nil {
		if err := s.openTracing(); err != nil {
			return nil, err
		}
	}
	o.Question = s.question
	l, err := admin.Listen(o.Listen, "serve.listen", s.log)
	if err != nil {
		return nil, err
	}
	api, err := serve.New(l, o)
	if err != nil {
		_ = l.Close() // nothing was accepted
	}
	return api, err
}

// question begins a question as a part of its asker's trace, if that is sampled and spans have a place to go to.
func (s *Service) question(ctx context.Context, traceparent, name string) (context.Context, func(error)) {
	if s.tracer == nil || !tracing.Sampled(traceparent) {
		return ctx, func(error) {}
	}
	return s.tracer.Question(ctx, traceparent, name)
}
