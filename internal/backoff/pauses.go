package backoff

import (
	"context"
	"time"
)

// Pauses are the waits between the attempts at one thing, growing from Base to Limit. The zero value of Failures begins them.
type Pauses struct {
	Base, Limit time.Duration
	Failures    int // so far; set to 0 after a success
}

// Next returns the pause after one more failure.
func (p *Pauses) Next() time.Duration {
	p.Failures++
	return Exponential(p.Base, p.Limit, p.Failures-1)
}

// Wait pauses after one more failure, or returns ctx's error when that ends first.
func (p *Pauses) Wait(ctx context.Context) error { return Wait(ctx, p.Next()) }
