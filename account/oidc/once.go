package oidc

import (
	"maps"
	"sync"
	"time"
)

// mostEnded bounds the number of remembered states. If that many sign-ins end within ten minutes, further ones are refused.
const mostEnded = 100_000

// once remembers which sign-ins have ended for as long as their cookies are valid, so that a saved cookie cannot be used again.
type once struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// first reports whether a state is new, and remembers it until until.
func (o *once) first(state string, until, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.until) >= mostEnded {
		maps.DeleteFunc(o.until, func(_ string, until time.Time) bool { return !now.Before(until) })
	}
	if _, known := o.until[state]; known || len(o.until) >= mostEnded {
		return false
	}
	if o.until == nil {
		o.until = map[string]time.Time{}
	}
	o.until[state] = until
	return true
}
