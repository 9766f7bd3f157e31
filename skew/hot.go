package skew

import (
	"math"
	"time"
)

// A region becomes hot if, in each of several consecutive spans of seconds, it took much more than the mean, more than chance explains, and
// more than a floor. So a backlog that arrives at once after a pause makes no region hot. A region cools once it has taken little more than
// the mean for longer.
const (
	hotTimes    = 1.5  // multiple of the mean from which a region is hot
	coolTimes   = 1.25 // multiple of the mean up to which it cools
	hotFloor    = 50   // rows per second: less is no burden for any region
	hotSpans    = 3    // number of consecutive spans
	hotSpan     = 2    // seconds per span
	coolSpan    = 10   // seconds
	unexplained = 10   // −ln of the largest probability of a span that is still put down to chance
)

// hotState is the time since which a place is hot.
type hotState struct {
	since time.Time // zero: not hot
}

// place is the rows that a region or a server took in the spans that count.
type place struct {
	spans [hotSpans]int64 // newest first
	long  int64           // over coolSpan
	state *hotState
}

func (p *place) add(c *counts) {
	for i := range p.spans {
		p.spans[i] += c.seconds((i+1)*hotSpan, i*hotSpan)
	}
	p.long += c.seconds(coolSpan, 0)
}

// tooMuch reports whether the place took too much in each span.
func (p *place) tooMuch(all *place, places float64) bool {
	for i, rows := range p.spans {
		if !tooMuch(rows, float64(all.spans[i])/places) {
			return false
		}
	}
	return true
}

// observe updates which places are hot, and reports whether any is.
func observe(places []place, now time.Time) (hot bool) {
	var all place
	for _, p := range places {
		for i, rows := range p.spans {
			all.spans[i] += rows
		}
		all.long += p.long
	}
	n := float64(len(places))
	for _, p := range places {
		switch was := !p.state.since.IsZero(); {
		case !was && p.tooMuch(&all, n):
			p.state.since = now.Add(-hotSpans * hotSpan * time.Second)
		case was && (float64(p.long) < coolTimes*float64(all.long)/n || p.long < hotFloor*coolSpan):
			p.state.since = time.Time{}
		}
		hot = hot || !p.state.since.IsZero()
	}
	return hot
}

// tooMuch reports whether chance cannot explain so many rows for this mean (Chernoff's bound).
func tooMuch(rows int64, mean float64) bool {
	x := float64(rows) / mean
	return rows >= hotFloor*hotSpan && x >= hotTimes && mean*(x*math.Log(x)-x+1) >= unexplained
}

// observe updates which regions are hot, keeps the history, and adds up what each server took of the table.
func (c *Counter) observe(servers map[string]*place) (hot bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	now := c.now()
	places := make([]place, len(c.regions.sorted))
	for i, t := range c.regions.sorted {
		places[i].state = &t.hot
		places[i].add(t.counts)
		if t.region.Server != "" {
			if servers[t.region.Server] == nil {
				servers[t.region.Server] = &place{}
			}
			servers[t.region.Server].add(t.counts)
		}
	}
	c.past.keep(c.at, now, c.regions.sorted)
	return observe(places, now)
}
