package main

import (
	"log/slog"
	"time"

	"brine/internal/repeat"
)

// repeatEvery is the shortest time between two copies of the same line, because a failing operation is retried many times a minute.
const repeatEvery = 10 * time.Second

// newLog returns the log of a long-running command. It prints a repeated line at intervals, with a count. The caller must call done at the
// end.
func newLog(e *env, level slog.Level) (log *slog.Logger, done func()) {
	h := repeat.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: level}), repeatEvery)
	return slog.New(h), h.Close
}
