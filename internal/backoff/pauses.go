package backoff

import (
	"context"
	"time"
)

// Pauses are the waits between the attempts at one operation, growing from Base to Limit. With Failures 0 they start at Base.
type Pauses struct {
	Base, Limit time.Duration
	Failures    int // consecutive failures so far; set to 0 after a success
}

// Next returns the pause after one more failure.
func (p *Pauses) Next() time.Duration {
	p.Failures++
	return Exponential(p.Base, p.Limit, p.Failures-1)
}

// Wait pauses after one more failure. If ctx is done earlier, it returns ctx's error.
func (p *Pauses) Wait(ctx context.Context) error { return Wait(ctx, p.Next()) }
