package skew

import (
	"math"
	"time"
)

// RegionLoad is what a cluster reports about one region. Requests are counted since the region was opened on its server.
type RegionLoad struct {
	Region        string // encoded name
	MB            int64  // in files and in memory
	Reads, Writes uint64
}

// loads are the last loads that the cluster reported for a table's regions.
type loads struct {
	at      time.Duration // since the counter began; 0: never
	servers []string      // addresses of the cluster's servers
}

// regionLoad is what the cluster last reported about one region.
type regionLoad struct {
	known         bool
	mb            int64
	reads, writes rate
}

// rate is requests per second, weighted towards the newest: the last minute makes up two thirds.
type rate struct {
	last  uint64
	per   float64
	known bool
}

// observe takes a count, and returns how many requests came since the one before, which was span ago.
func (r *rate) observe(now uint64, span time.Duration) (n uint64) {
	if span <= 0 {
		r.last = now
		return 0
	}
	n = now - r.last
	if now < r.last { // the region was reopened
		n = now
	}
	r.last = now
	weight := 1 - math.Exp(-float64(span)/float64(time.Minute))
	if !r.known {
		weight, r.known = 1, true
	}
	r.per += weight * (float64(n)/span.Seconds() - r.per)
	return n
}

// mostSpan is the longest time between two reports whose requests count in the history's column: over a longer one, it is unknown when they
// came.
const mostSpan = time.Minute

// SetLoads takes what a cluster of these servers reports about the table's regions. Regions that it does not report keep their loads.
func (c *Counter) SetLoads(servers []string, list []RegionLoad) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.tick()
	c.past.reported = true
	between := at - c.loads.at
	counts := c.loads.at > 0 && between <= mostSpan
	if counts {
		c.past.observed += between
	}
	for _, l := range list {
		t := c.regions.named[l.Region]
		if t == nil {
			continue
		}
		span := between
		if !t.load.known {
			span = 0
		}
		t.load.known, t.load.mb = true, l.MB
		n := t.load.reads.observe(l.Reads, span) + t.load.writes.observe(l.Writes, span)
		if counts {
			t.column.requests += int64(min(n, math.MaxInt32))
		}
	}
	c.loads = loads{at: max(at, 1), servers: servers}
}
