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

// next is the pause after one more failure.
func (p *pauses) next() time.Duration {
	p.failures++
	return backoff.Exponential(p.base, p.limit, p.failures-1)
}

// wait pauses after one more failure, or returns ctx's error when that ends first.
func (p *pauses) wait(ctx context.Context) error { return backoff.Wait(ctx, p.next()) }

// pauses begins the pauses between attempts to write or to fetch.
func (r *runner) pauses() *pauses { return &pauses{base: r.RetryMin, limit: r.RetryMax} }
