package ingest

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Budget bounds the bytes of records in memory over all partitions of the Runs that share it. A quarter is for fetches in progress, the
// rest for records from decoding to settle. The two parts are separate so that a fetched chunk waiting for room never waits for other
// fetched chunks, only for the writer, which makes progress by itself.
type Budget struct {
	size           int64
	fetches, holds share
}

// share is one part of the budget.
type share struct {
	size int64
	sem  *semaphore.Weighted
	used atomic.Int64
}

// NewBudget returns a budget of that many bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{size: bytes}
	b.fetches.init(bytes / 4)
	b.holds.init(bytes - bytes/4)
	return b
}

// Size returns the number of bytes that the budget was made with.
func (b *Budget) Size() int64 { return b.size }

// InUse returns the number of bytes charged now.
func (b *Budget) InUse() int64 { return b.fetches.used.Load() + b.holds.used.Load() }

func (s *share) init(bytes int64) {
	s.size = bytes
	s.sem = semaphore.NewWeighted(bytes)
}

// acquire waits for n bytes and returns the number charged: n, or the whole share if n is larger. (A single record may exceed any budget;
// it then travels alone.)
func (s *share) acquire(ctx context.Context, n int64) (charged int64, err error) {
	n = min(n, s.size)
	if err := s.sem.Acquire(ctx, n); err != nil {
		return 0, err
	}
	s.used.Add(n)
	return n, nil
}

// tryAcquire acquires exactly n bytes if it can do so without waiting.
func (s *share) tryAcquire(n int64) bool {
	ok := s.sem.TryAcquire(n)
	if ok {
		s.used.Add(n)
	}
	return ok
}

// Release returns n bytes to the budget.
func (s *share) Release(n int64) {
	s.used.Add(-n)
	s.sem.Release(n)
}
