package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/hbase"
	"brine/indexer"
	"brine/internal/fault"
	"brine/tracing"
)

// openTracing creates the tracer if the configuration asks for one.
func (s *Service) openTracing() (err error) {
	if s.Config().Tracing.To == "" {
		return nil
	}
	s.tracer, err = tracing.Open(tracing.Options{
		To: s.Config().Tracing.To, OneIn: s.Config().Tracing.OneIn, Version: s.opts.Version,
		Failed: func(err error) { s.log.Warn("spans could not be delivered and were dropped", "error", err) },
	})
	if err != nil {
		return fault.Misused(fmt.Errorf("tracing.to: %w", err))
	}
	return nil
}

// traceCalls wraps the client's hooks to record spans of calls.
func (s *Service) traceCalls(hooks hbase.Hooks) hbase.Hooks {
	if s.tracer == nil {
		return hooks
	}
	count := hooks.Sent
	hooks.Sent = func(i *hbase.SentInfo) {
		s.tracer.Sent(i)
		count(i)
	}
	return hooks
}

// traceIndex wraps an index writer's hooks to record spans of calls.
func (s *Service) traceIndex(hooks indexer.Hooks) indexer.Hooks {
	if s.tracer == nil {
		return hooks
	}
	count := hooks.Call
	hooks.Call = func(c *indexer.CallInfo) {
		s.tracer.Indexed(c)
		count(c)
	}
	return hooks
}

// closeTracing delivers the last spans, if the collector accepts them in time.
func (s *Service) closeTracing() {
	if s.tracer == nil {
		return
	}
	if err := EndTracing(s.tracer); err != nil {
		s.log.Warn("the last spans could not be delivered", "error", err)
	}
}

// EndTracing delivers a tracer's last spans. It gives up after a few seconds, without an error.
func EndTracing(t *tracing.Tracer) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := t.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
