package operations

import (
	"sync"
	"time"
)

// Rates cover at most rateOver, and compare readings at least rateEvery apart.
const (
	rateOver  = 30 * time.Second
	rateEvery = time.Second
)

// rates measures how fast numbers grow, each identified by a key. The zero value is ready to use.
type rates struct {
	mu sync.Mutex
	of map[string][]reading
}

type reading struct {
	at time.Time
	n  int64
}

// observe records the current value of a number, and returns its growth per second, or nil if that is unknown yet.
func (r *rates) observe(key string, n int64, now time.Time) *float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string][]reading{}
	}
	list := r.of[key]
	for len(list) > 0 && now.Sub(list[0].at) > rateOver {
		list = list[1:]
	}
	if len(list) > 0 && n < list[len(list)-1].n { // offsets were set, or the topic was created again
		list = nil
	}
	var out *float64
	if len(list) > 0 && now.Sub(list[0].at) >= rateEvery {
		per := float64(n-list[0].n) / now.Sub(list[0].at).Seconds()
		out = &per
	}
	if len(list) == 0 || now.Sub(list[len(list)-1].at) >= rateEvery {
		list = append(list, reading{now, n})
	}
	r.of[key] = list
	return out
}
