package main

import (
	"fmt"

	"brine/config"
	"brine/service"
	"brine/tracing"
)

// traced runs answer as part of the trace named by TRACEPARENT, if that trace is sampled and spans go somewhere other than stdout.
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
	e.ended = within.ended
	answered(err)
	if fault := service.EndTracing(tracer); fault != nil {
		failed(fault)
	}
	return err
}
