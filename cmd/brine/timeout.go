package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"brine/config"
	"brine/hbase"
	"brine/service/stores"
)

// timeoutFlag is the flag of commands whose user waits for the answer.
type timeoutFlag struct {
	Timeout time.Duration `default:"30s" help:"Give up when a server has not answered for this long, retries included (default 30s). Commands take as long as they need while answers arrive."`
}

// AfterApply sets the timeout for every client that the command creates.
func (f timeoutFlag) AfterApply(e *env) error {
	if f.Timeout < minTimeout {
		return usage(errors.New("--timeout is " + f.Timeout.String() + "; it must be at least " + minTimeout.String()))
	}
	e.patience = f.Timeout
	return nil
}

const minTimeout = 100 * time.Millisecond

// within applies --timeout to all requests of a command, and logs a warning for brokers that keep failing, as is done for stores.
func within(e *env, cfg *config.Config) {
	cfg.Within(e.patience)
	cfg.Kafka.Watch(stores.NewOutages(slog.New(slog.NewTextHandler(e.stderr, nil)), cfg.Mask().MasksKey).Kafka)
}

// timedOut attaches an exit code and a hint to the error of a server that did not answer in time.
func timedOut(e *env, err error) error {
	if _, _, known := exitOf(err); known || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	hint := "check that server"
	if _, begun := errors.AsType[*hbase.BegunError](err); begun {
		hint += "; brine regions ls and brine tables plan show whether the change was made"
	}
	if e.patience > 0 {
		hint += "; --timeout waits longer"
	}
	return &exitError{exitUnreachable, err, hint}
}
