package skew

import (
	"maps"
	"time"
)

// causes are the hot regions by cause, as they were told last. To find them costs milliseconds, and each scrape asks.
type causes struct {
	regions map[Cause]int
	hot     int // regions in all
	at      time.Duration
}

const (
	causesAge     = 10 * time.Second // for which they are told again, unless as many regions are hot no longer
	mostExplained = 32               // hot regions of which a scrape is told the cause
)

// Causes counts the hot regions by cause, as they were at most ten seconds ago. When nobody has asked Advise meanwhile, those behind the hottest
// mostExplained count as Unknown.
func (c *Counter) Causes() map[Cause]int {
	if told, ok := c.told(); ok {
		return told
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
	told, _ := c.told()
	return told
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

// told returns what is remembered, and whether it is of now.
func (c *Counter) told() (regions map[Cause]int, current bool) {
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
