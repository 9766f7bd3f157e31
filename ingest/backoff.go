package ingest

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is the pauses between attempts: from min doubling to max, each with a jitter of ±25 %, so that partitions that
// failed together do not come back together.
type backoff struct{ min, max, next time.Duration }

func newBackoff(min, max time.Duration) *backoff { return &backoff{min: min, max: max, next: min} }

// reset begins again at the shortest pause.
func (b *backoff) reset() { b.next = b.min }

// wait pauses, or returns ctx's error when that ends first.
func (b *backoff) wait(ctx context.Context) error {
	d := b.next
	b.next = min(2*b.next, b.max)
	return pause(ctx, jitter(d))
}

func jitter(d time.Duration) time.Duration { return d*3/4 + rand.N(d/2+1) }

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
