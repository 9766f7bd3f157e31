// Package backoff computes how long to wait before a retry, and waits.
//
// Its functions keep no state: the caller counts its failures, or uses Pauses.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// hbaseSteps are the multipliers of hbase.client.pause by number of previous failures (HConstants.RETRY_BACKOFF); further failures use the
// last one.
var hbaseSteps = [...]time.Duration{1, 2, 3, 5, 10, 20, 40, 100, 100, 100, 100, 200, 200}

// HBase returns the wait of HBase's own client before a retry, where failures is 0 for the first: pause × hbaseSteps, plus up to 1 % of
// jitter.
func HBase(pause time.Duration, failures int) time.Duration {
	d := pause * hbaseSteps[min(max(failures, 0), len(hbaseSteps)-1)]
	return d + jitter(d/100)
}

// Exponential returns base × 2^failures, at most limit, minus a random part of up to half, so that many clients that failed together do not
// retry together.
func Exponential(base, limit time.Duration, failures int) time.Duration {
	d := base
	for i := 0; i < failures && d < limit; i++ {
		d *= 2
	}
	d = min(d, limit)
	return d - jitter(d/2)
}

// Wait waits for d. If ctx is done earlier, it returns ctx's error.
func Wait(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// jitter returns a random duration in [0, limit].
func jitter(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return rand.N(limit + 1)
}
