// Package refusal limits how many events per minute may become dead letters only because a store refused them: a table or an index that
// refuses many is misconfigured, and must not drain a topic into dead letters. sink and indexer use it.
package refusal

import (
	"sync"
	"time"
)

// Bound allows at most 100 rejections per minute, and at most 1 % of what was settled, but always a few, so that one bad event does not
// halt a quiet topic. The zero Bound is ready to use. It is safe for concurrent use.
type Bound struct {
	mu   sync.Mutex
	last [windows]window // a ring, by time
}

const (
	windows  = 6 // of ten seconds each
	interval = time.Minute / windows

	maxRefused    = 100 // a minute
	refusedShare  = 100 // one in this many
	alwaysAllowed = 3   // a minute
)

// window counts one interval.
type window struct {
	number            int64 // intervals since 1970
	settled, rejected int
}

// Settled counts writes that have a result.
func (b *Bound) Settled(now time.Time, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at(now).settled += n
}

// Allow counts one rejection, or returns false if there have been too many.
func (b *Bound) Allow(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	current := b.at(now)
	settled, rejected := 0, 0
	for _, w := range b.last {
		if current.number-w.number < windows {
			settled += w.settled
			rejected += w.rejected
		}
	}
	if rejected >= min(maxRefused, max(alwaysAllowed, settled/refusedShare)) {
		return false
	}
	current.rejected++
	return true
}

func (b *Bound) at(now time.Time) *window {
	number := now.UnixMilli() / interval.Milliseconds()
	w := &b.last[number%windows]
	if w.number != number {
		*w = window{number: number}
	}
	return w
}
