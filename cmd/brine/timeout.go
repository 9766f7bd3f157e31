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

// timeoutFlag is the flag of commands that somebody waits for.
type timeoutFlag struct {
	Timeout time.Duration `default:"30s" help:"Give up when a server has not answered for this long, retries included (default 30s). A long command goes on as long as answers come."`
}

// AfterApply has every client that the command makes keep to it.
func (f timeoutFlag) AfterApply(e *env) error {
	if f.Timeout < minTimeout {
		return usage(errors.New("--timeout is " + f.Timeout.String() + ", give at least " + minTimeout.String()))
	}
	e.patience = f.Timeout
	return nil
}

const minTimeout = 100 * time.Millisecond

// within holds what a command asks of its servers to --timeout; brokers that fail again and again are warned of, as stores are.
func within(e *env, cfg *config.Config) {
	cfg.Within(e.patience)
	cfg.Kafka.Watch(stores.NewOutages(slog.New(slog.NewTextHandler(e.stderr, nil))).Kafka)
}

// timedOut gives the error of servers that did not answer in time its exit code.
func timedOut(e *env, err error) error {
	if _, _, known := exitOf(err); known || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	hint := "see whether that server is well"
	if _, begun := errors.AsType[*hbase.BegunError](err); begun {
		hint += "; brine regions ls and brine tables plan show what has become of the change"
	}
	if e.patience > 0 {
		hint += "; --timeout waits longer"
	}
	return &exitError{exitUnreachable, err, hint}
}
