package main

import (
	"log/slog"
	"time"

	"brine/internal/repeat"
)

// repeatEvery is how often one line is printed at most: what fails is tried again many times a minute.
const repeatEvery = 10 * time.Second

// newLog makes the log of a command that goes on for long. A line that comes again and again is printed now and then, with how often; call
// done at the end.
func newLog(e *env, level slog.Level) (log *slog.Logger, done func()) {
	h := repeat.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: level}), repeatEvery)
	return slog.New(h), h.Close
}
