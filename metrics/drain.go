package metrics

import (
	"math"
	"sync"
	"time"

	"brine/ingest"
)

// rates are the speeds at which a loop settles and its partitions grow, in offsets per second, weighted towards the newest moves: the last
// minute makes up two thirds. They are taken from one scrape to the next, by any scraper.
type rates struct {
	mu      sync.Mutex
	at      time.Time
	last    map[partitionOf]ingest.PartitionStatus
	settled float64
	arrived float64
	known   bool
}

// atLeast is the shortest span over which rates are taken: shorter ones show single batches.
const atLeast = time.Second

// Flow is how fast a loop's partitions move, over about the last minute.
type Flow struct {
	Settled, Arrived float64 // offsets per second
	Known            bool    // whether Settled and Arrived are known
	Drain            float64 // seconds until nothing is left; +Inf: it does not shrink
	Drains           bool    // whether Drain is known
}

func (r *rates) flow(now time.Time, parts []ingest.PartitionStatus) (f Flow) {
	f.Drain, f.Drains = r.drain(now, parts)
	r.mu.Lock()
	defer r.mu.Unlock()
	f.Settled, f.Arrived, f.Known = r.settled, r.arrived, r.known
	return f
}

// drain returns the number of seconds until nothing is left, if it is known.
func (r *rates) drain(now time.Time, parts []ingest.PartitionStatus) (seconds float64, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.at) >= atLeast || now.Before(r.at) { // start over if the clock was set back
		r.observe(now, parts)
	}
	lag := int64(0)
	for _, p := range parts {
		lag += p.Lag()
	}
	switch gain := r.settled - r.arrived; {
	case lag == 0:
		return 0, true
	case !r.known:
		return 0, false
	case gain <= 0:
		return math.Inf(1), true
	default:
		return float64(lag) / gain, true
	}
}

// partitionOf identifies a partition of a topic.
type partitionOf struct {
	topic     string
	partition int
}

// observe takes the moves of only those partitions that were ours before, too.
func (r *rates) observe(now time.Time, parts []ingest.PartitionStatus) {
	span, before := now.Sub(r.at).Seconds(), r.last
	r.at, r.last = now, make(map[partitionOf]ingest.PartitionStatus, len(parts))
	settled, arrived, moved := int64(0), int64(0), false
	for _, p := range parts {
		if p.Watermark < 0 {
			continue
		}
		at := partitionOf{p.Topic, p.Partition}
		r.last[at] = p
		if old, ok := before[at]; ok {
			settled += max(0, p.Watermark-old.Watermark)
			arrived += max(0, p.End-old.End)
			moved = true
		}
	}
	if !moved || span <= 0 {
		return
	}
	weight := 1 - math.Exp(-span/60)
	if !r.known {
		weight, r.known = 1, true
	}
	r.settled += weight * (float64(settled)/span - r.settled)
	r.arrived += weight * (float64(arrived)/span - r.arrived)
}
