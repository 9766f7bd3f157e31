package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/hbase"
	"brine/tracing"
)

// openTracing makes the tracer if the configuration asks for one.
func (s *service) openTracing() (err error) {
	if s.cfg.Tracing.To == "" {
		return nil
	}
	s.tracer, err = tracing.Open(tracing.Options{To: s.cfg.Tracing.To, OneIn: s.cfg.Tracing.OneIn, Version: version, Failed: func(err error) {
		s.log.Warn("spans could not be delivered, and are dropped", "error", err)
	}})
	if err != nil {
		return usage(fmt.Errorf("tracing.to: %w", err))
	}
	return nil
}

// traceCalls adds the spans of calls to the client's hooks.
func (s *service) traceCalls(hooks hbase.Hooks) hbase.Hooks {
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

// closeTracing delivers the last spans, if whoever takes them does so soon.
func (s *service) closeTracing() {
	if s.tracer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := s.tracer.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("the last spans could not be delivered", "error", err)
	}
}
