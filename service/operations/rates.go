package operations

import (
	"sync"
	"time"
)

// Rates are over this long at most, and between readings that are at least so far apart.
const (
	rateOver  = 30 * time.Second
	rateEvery = time.Second
)

// rates are how fast numbers grow, each known by a key. The zero rates are ready.
type rates struct {
	mu sync.Mutex
	of map[string][]reading
}

type reading struct {
	at time.Time
	n  int64
}

// observe takes a number as it is now, and returns by how much it grew a second; nil: that is not known yet.
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
	if len(list) > 0 && n < list[len(list)-1].n { // offsets were set, or a topic was made again
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
