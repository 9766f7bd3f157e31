package skew

import (
	"maps"
	"time"
)

// causes are the hot regions by cause, as they were last found. To find them costs milliseconds, and each scrape asks.
type causes struct {
	regions map[Cause]int
	hot     int // regions in all
	at      time.Duration
}

const (
	causesAge     = 10 * time.Second // for which they are returned again, unless as many regions are hot no longer
	mostExplained = 32               // hot regions whose cause a scrape returns
)

// Causes counts the hot regions by cause, as they were at most ten seconds ago. When Advise has not been called meanwhile, those behind
// the hottest mostExplained count as Unknown.
func (c *Counter) Causes() map[Cause]int {
	if known, ok := c.known(); ok {
		return known
	}
	e := c.evidence("")
	var spots []HotSpot
	for rank, i := range e.hottest() {
		h := HotSpot{Cause: Unknown}
		if rank < mostExplained {
			h, _, _ = e.explained(i)
		}
		spots = append(spots, h)
	}
	c.keep(spots)
	known, _ := c.known()
	return known
}

// keep remembers the causes of all hot regions.
func (c *Counter) keep(spots []HotSpot) {
	regions := make(map[Cause]int)
	for i := range spots {
		regions[spots[i].Cause]++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.causes = causes{regions, len(spots), c.at}
}

// known returns what is remembered, and whether it is current.
func (c *Counter) known() (regions map[Cause]int, current bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hot := 0
	for _, t := range c.regions.sorted {
		if !t.hot.since.IsZero() {
			hot++
		}
	}
	return maps.Clone(c.causes.regions), hot == c.causes.hot && c.tick()-c.causes.at < causesAge
}
