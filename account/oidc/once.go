package oidc

import (
	"maps"
	"sync"
	"time"
)

// mostEnded bounds how many states are remembered. While so many sign-ins end within ten minutes, further ones are refused.
const mostEnded = 100_000

// once knows which sign-ins have ended, as long as their cookies would be taken: a cookie that somebody kept begins none again.
type once struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// first reports whether a state is seen for the first time, and remembers it until then.
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
