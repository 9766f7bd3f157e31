package indexer

import (
	"context"
	"sync"
	"time"
)

// pace limits the number of pending calls and their size, and adapts both to the server: a call that the server could not handle in time
// halves them, and each one that it accepts adds a little (AIMD). All lanes share it.
type pace struct {
	mostCalls, mostBytes int

	mu    sync.Mutex
	calls float64 // the number of calls that may be pending
	bytes int     // of documents in one call
	out   int
	freed chan struct{} // closed and replaced when a place is freed
	cut   time.Time     // of the last halving

	// refused is the size that the server called too large. This is a setting of the server, so the size is not tried again for a while.
	refused   int
	refusedAt time.Time
}

const (
	leastBytes   = 64 << 10 // halving stops here; only a size that the server refuses goes below
	steps        = 64       // from zero to mostBytes
	refusedLasts = 10 * time.Minute
)

func newPace(calls, bytes int) *pace {
	return &pace{mostCalls: calls, mostBytes: bytes, calls: float64(calls), bytes: bytes, freed: make(chan struct{})}
}

// enter waits for a place for one call. It returns false if ctx ends first.
func (p *pace) enter(ctx context.Context) bool {
	for {
		p.mu.Lock()
		if p.out < int(p.calls) {
			p.out++
			p.mu.Unlock()
			return true
		}
		freed := p.freed
		p.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

// leave frees the place.
func (p *pace) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out--
	close(p.freed)
	p.freed = make(chan struct{})
}

// limit returns the bytes of documents that one call may hold.
func (p *pace) limit() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// took counts a call that the server accepted.
func (p *pace) took(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = min(float64(p.mostCalls), p.calls+1/p.calls)
	most := p.mostBytes
	if p.refused > 0 && now.Sub(p.refusedAt) < refusedLasts {
		most = min(most, max(1, p.refused*7/8))
	}
	p.bytes = min(most, p.bytes+max(1, p.mostBytes/steps))
}

// congested counts a call that the server could not handle in time. A call that was sent before the last halving does not show the effect
// of that, and is ignored.
func (p *pace) congested(sent, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sent.Before(p.cut) {
		return
	}
	p.cut = now
	p.calls = max(1, p.calls/2)
	p.bytes = min(p.bytes, max(p.bytes/2, leastBytes))
}

// tooLarge counts a call of size bytes that the server called too large.
func (p *pace) tooLarge(size int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused, p.refusedAt = size, now
	p.bytes = max(1, min(p.bytes, size)/2)
}
