package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/config"
	"brine/hbase"
	"brine/indexer"
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

// traceIndex adds the spans of calls to an index writer's hooks.
func (s *service) traceIndex(hooks indexer.Hooks) indexer.Hooks {
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

// closeTracing delivers the last spans, if whoever takes them does so soon.
func (s *service) closeTracing() {
	if s.tracer == nil {
		return
	}
	if err := endTracing(s.tracer); err != nil {
		s.log.Warn("the last spans could not be delivered", "error", err)
	}
}

func endTracing(t *tracing.Tracer) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := t.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// traced answers a question as a part of the trace that the variable TRACEPARENT names, where that is sampled and spans have a place to go to other
// than the answer's own.
func (e *env) traced(cfg *config.Config, name string, answer func(*env) error) error {
	parent, _ := e.getenv("TRACEPARENT")
	if to := cfg.Tracing.To; to == "" || to == "stdout" || !tracing.Sampled(parent) {
		return answer(e)
	}
	failed := func(err error) { fmt.Fprintln(e.stderr, "brine: the spans could not be delivered:", err) }
	tracer, err := tracing.Open(tracing.Options{To: cfg.Tracing.To, Version: version, Failed: failed})
	if err != nil {
		return usage(fmt.Errorf("tracing.to: %w", err))
	}
	within := *e
	ctx, answered := tracer.Question(e.ctx, parent, name)
	within.ctx = ctx
	err = answer(&within)
	answered(err)
	if fault := endTracing(tracer); fault != nil {
		failed(fault)
	}
	return err
}
