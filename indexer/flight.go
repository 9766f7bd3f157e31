package indexer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"brine/event"
)

// flight is one submitted batch. left counts what is not yet settled: one for each op, and one for Submit itself.
type flight struct {
	left      atomic.Int64
	done      chan struct{}
	ctx       context.Context // the context of Submit, for the hooks
	submitted time.Time
	free      func() // returns memory and budget, once left is 0

	mu       sync.Mutex
	failures []event.Failure
}

// fail records a failed event, without settling it.
func (f *flight) fail(failure event.Failure) {
	f.mu.Lock()
	f.failures = append(f.failures, failure)
	f.mu.Unlock()
}

// settle counts n ops, or Submit, as done. The flight's memory must not be used after it.
func (f *flight) settle(n int64) {
	if f.left.Add(-n) == 0 {
		f.free()
		close(f.done)
	}
}

// Wait implements event.Flight. No event is ever pending, because an index does not fail in parts.
func (f *flight) Wait(ctx context.Context, _ event.Until) (event.Outcome, error) {
	select {
	case <-f.done:
	default:
		select {
		case <-f.done:
		case <-ctx.Done():
			return event.Outcome{}, ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = event.Worst(f.failures)
	return event.Outcome{Failures: f.failures}, nil
}
