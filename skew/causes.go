package skew

import (
	"maps"
	"time"
)

// causes caches the hot regions by cause, because each scrape asks for them and finding them takes milliseconds.
type causes struct {
	regions map[Cause]int
	hot     int // number of hot regions
	at      time.Duration
}

const (
	causesAge     = 10 * time.Second // how long they stay valid, unless the number of hot regions changes
	mostExplained = 32               // most hot regions whose cause a scrape returns
)

// Causes returns the number of hot regions by cause, at most ten seconds old. If Advise was not called in that time, those after the
// hottest mostExplained count as Unknown.
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

// keep caches the causes of all hot regions.
func (c *Counter) keep(spots []HotSpot) {
	regions := make(map[Cause]int)
	for i := range spots {
		regions[spots[i].Cause]++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.causes = causes{regions, len(spots), c.at}
}

// known returns the cached causes, and whether they are current.
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
