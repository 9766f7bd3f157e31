package ingest

import (
	"context"
	"time"

	"brine/internal/backoff"
)

// pauses are the waits between the attempts at one thing, growing from base to limit.
type pauses struct {
	base, limit time.Duration
	failures    int
}

// wait pauses after one more failure, or returns ctx's error when that ends first.
func (p *pauses) wait(ctx context.Context) error {
	d := backoff.Exponential(p.base, p.limit, p.failures)
	p.failures++
	return backoff.Wait(ctx, d)
}

// pauses begins the pauses between attempts to write or to fetch.
func (r *runner) pauses() *pauses { return &pauses{base: r.RetryMin, limit: r.RetryMax} }
