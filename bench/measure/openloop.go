package measure

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// WarmUp is how long an open loop sends requests that do not count, to warm connections, caches, and the servers' compilers.
const WarmUp = 3 * time.Second

// OpenLoop sends requests at a rate for a while, without waiting for answers, and returns the duration of each, counted from when it was
// due.
func OpenLoop(ctx context.Context, rate int, span time.Duration, ask func(context.Context, int) error) (Milliseconds, error) {
	var mu sync.Mutex
	var took Milliseconds
	g, ctx := errgroup.WithContext(ctx)
	start := time.Now()
	for i := 0; ; i++ {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(rate))
		if due.Sub(start) > span+WarmUp || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Until(due))
		g.Go(func() error {
			err := ask(ctx, i)
			if late := time.Since(due); due.Sub(start) > WarmUp {
				mu.Lock()
				took.Add(late)
				mu.Unlock()
			}
			return err
		})
	}
	return took, g.Wait()
}
