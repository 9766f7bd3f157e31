package sink

import (
	"sync"
	"time"
)

// refusals bounds how many events a minute are rejected only because the store refused them: 100, and 1 % of what was
// settled, of which a few are always allowed so that one bad event does not halt a quiet topic.
type refusals struct {
	mu   sync.Mutex
	last [windows]window // a ring by time
}

const (
	windows  = 6 // of ten seconds each
	interval = time.Minute / windows

	maxRefused    = 100 // a minute
	refusedShare  = 100 // one in so many
	alwaysAllowed = 3   // a minute
)

// window counts one interval.
type window struct {
	number            int64 // of intervals since 1970
	settled, rejected int
}

// settled counts mutations that have their result.
func (r *refusals) settled(now time.Time, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at(now).settled += n
}

// allow counts one rejection, or says that there have been too many.
func (r *refusals) allow(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	current := r.at(now)
	settled, rejected := 0, 0
	for _, w := range r.last {
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

func (r *refusals) at(now time.Time) *window {
	number := now.UnixMilli() / interval.Milliseconds()
	w := &r.last[number%windows]
	if w.number != number {
		*w = window{number: number}
	}
	return w
}
