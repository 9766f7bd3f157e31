// Package backoff says how long to wait before trying again, and waits.
//
// Its functions keep no state: the caller counts its failures, or has Pauses count them.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// hbaseSteps are the multipliers of hbase.client.pause by number of failures before (HConstants.RETRY_BACKOFF); further
// failures wait as long as the last.
var hbaseSteps = [...]time.Duration{1, 2, 3, 5, 10, 20, 40, 100, 100, 100, 100, 200, 200}

// HBase is the wait of HBase's own client before retry number failures (0 for the first): pause × its table, plus up to
// 1 % of jitter.
func HBase(pause time.Duration, failures int) time.Duration {
	d := pause * hbaseSteps[min(max(failures, 0), len(hbaseSteps)-1)]
	return d + jitter(d/100)
}

// Exponential is base × 2^failures, at most limit, of which a random half is taken off: many clients that failed together
// do not come back together.
func Exponential(base, limit time.Duration, failures int) time.Duration {
	d := base
	for i := 0; i < failures && d < limit; i++ {
		d *= 2
	}
	d = min(d, limit)
	return d - jitter(d/2)
}

// Wait waits for d, or until ctx is done and returns its error.
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

// jitter is a random duration in [0, limit].
func jitter(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return rand.N(limit + 1)
}
