package skew

import (
	"math"
	"time"
)

// A region is hot when over each of two spans of seconds that follow one another it took much more than the mean, more than chance
// explains, and more than a floor; so a backlog that comes at once after a pause makes none. It is hot no longer once it took
// little more than the mean for longer.
const (
	hotTimes    = 1.5  // the mean, from which on a region is hot
	coolTimes   = 1.25 // the mean, up to which it is hot no longer
	hotFloor    = 50   // rows a second: less is no burden for any region
	hotSpan     = 3    // seconds of each of the two spans
	coolSpan    = 10   // seconds
	unexplained = 15   // −ln of the largest probability of one span that chance is believed
)

// hotState is since when a place is hot.
type hotState struct {
	since time.Time // zero: it is not
}

// place is the rows that a region or a server took over the spans that count.
type place struct {
	late, early, long int64
	state             *hotState
}

func (p *place) add(c *counts) {
	p.late += c.seconds(hotSpan, 0)
	p.early += c.seconds(2*hotSpan, hotSpan)
	p.long += c.seconds(coolSpan, 0)
}

// observe looks for places that have become hot, and for those that are hot no longer; it tells whether any is.
func observe(places []place, now time.Time) (hot bool) {
	var late, early, long float64
	for _, p := range places {
		late, early, long = late+float64(p.late), early+float64(p.early), long+float64(p.long)
	}
	n := float64(len(places))
	for _, p := range places {
		switch was := !p.state.since.IsZero(); {
		case !was && tooMuch(p.late, late/n) && tooMuch(p.early, early/n):
			p.state.since = now.Add(-2 * hotSpan * time.Second)
		case was && (float64(p.long) < coolTimes*long/n || p.long < hotFloor*coolSpan):
			p.state.since = time.Time{}
		}
		hot = hot || !p.state.since.IsZero()
	}
	return hot
}

// tooMuch tells whether chance does not make so many rows of this mean (Chernoff's bound).
func tooMuch(rows int64, mean float64) bool {
	x := float64(rows) / mean
	return rows >= hotFloor*hotSpan && x >= hotTimes && mean*(x*math.Log(x)-x+1) >= unexplained
}

// observe finds regions that become hot, keeps the history, and adds what servers took of the table.
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
