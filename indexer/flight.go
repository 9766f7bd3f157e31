package indexer

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"brine/event"
)

// flight is one submitted batch. Its left counts what is not yet settled: one for each op, and one for Submit itself.
type flight struct {
	left      atomic.Int64
	done      chan struct{}
	ctx       context.Context // that it was submitted with, for the hooks
	submitted time.Time
	free      func() // gives memory and budget back, when left is 0

	mu       sync.Mutex
	failures []event.Failure
}

// fail notes a failed event; it is not settled by that.
func (f *flight) fail(failure event.Failure) {
	f.mu.Lock()
	f.failures = append(f.failures, failure)
	f.mu.Unlock()
}

// settle counts n ops, or Submit, as done. Nothing of the flight's memory may be touched after it.
func (f *flight) settle(n int64) {
	if f.left.Add(-n) == 0 {
		f.free()
		close(f.done)
	}
}

// Wait implements event.Flight.
// An index does not fail in parts: no event is ever pending.
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
	f.failures = worst(f.failures)
	return event.Outcome{Failures: f.failures}, nil
}

// worst sorts failures by event and leaves one for each: halt before retry before reject. An event that is to be submitted
// again must not be dead-lettered for another of its documents before that one is written.
func worst(list []event.Failure) []event.Failure {
	slices.SortStableFunc(list, func(a, b event.Failure) int {
		if a.Index != b.Index {
			return a.Index - b.Index
		}
		return severity(b.Verdict) - severity(a.Verdict)
	})
	return slices.CompactFunc(list, func(a, b event.Failure) bool { return a.Index == b.Index })
}

func severity(v event.Verdict) int {
	switch v {
	case event.Halt:
		return 3
	case event.Retry:
		return 2
	default:
		return 1
	}
}
