package skew

import (
	"bytes"
	"slices"
	"sync"
	"time"
)

// Region identifies a region and says where it lies.
type Region struct {
	Name   string `json:"name"` // encoded name
	Start  Key    `json:"start"`
	End    Key    `json:"end"`
	Server string `json:"server"`
}

// Count is how much was written.
type Count struct {
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
}

func (c *Count) add(rows, bytes int64) {
	c.Rows += rows
	c.Bytes += bytes
}

// The window is a ring of slots; a slot older than the window is emptied before it is used again.
const (
	slots    = 12
	slotTime = 5 * time.Second
	// Window is the span of time that Load.Recent covers.
	Window = slots * slotTime
)

// Counter counts writes per region and per salt bucket of one table. It is safe for concurrent use; Add is called once for
// each region of each answered request, not once for each row.
type Counter struct {
	now func() time.Time

	mu      sync.Mutex
	regions map[string]*tally // by encoded name
	buckets []tally
}

type tally struct {
	region Region
	total  Count
	ring   [slots]Count
	slot   [slots]int64 // which slot of time the ring's entry belongs to
}

// NewCounter makes a counter of a table whose key has this many salt buckets (0 when it has none).
func NewCounter(buckets int, now func() time.Time) *Counter {
	return &Counter{now: now, regions: make(map[string]*tally), buckets: make([]tally, buckets)}
}

// SetRegions makes the counter know the table's regions, so that those without writes count as zero. Regions that are no
// longer listed (split, merged) are forgotten.
func (c *Counter) SetRegions(regions []Region) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := make(map[string]*tally, len(regions))
	for _, r := range regions {
		t := c.regions[r.Name]
		if t == nil {
			t = &tally{}
		}
		t.region = r
		next[r.Name] = t
	}
	c.regions = next
}

// Regions is the number of regions that the counter knows.
func (c *Counter) Regions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.regions)
}

// Add counts rows that a region acknowledged.
func (c *Counter) Add(r Region, rows, bytes int64) {
	slot := c.now().UnixNano() / int64(slotTime)
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.regions[r.Name]
	if t == nil {
		t = &tally{}
		c.regions[r.Name] = t
	}
	t.region = r
	t.add(slot, rows, bytes)
}

// AddBucket counts rows that were written into one salt bucket.
func (c *Counter) AddBucket(bucket int, rows, bytes int64) {
	slot := c.now().UnixNano() / int64(slotTime)
	c.mu.Lock()
	defer c.mu.Unlock()
	if bucket >= 0 && bucket < len(c.buckets) {
		c.buckets[bucket].add(slot, rows, bytes)
	}
}

func (t *tally) add(slot, rows, bytes int64) {
	t.total.add(rows, bytes)
	i := slot % slots
	if t.slot[i] != slot {
		t.slot[i], t.ring[i] = slot, Count{}
	}
	t.ring[i].add(rows, bytes)
}

func (t *tally) recent(slot int64) Count {
	var c Count
	for i := range t.ring {
		if t.slot[i] > slot-slots && t.slot[i] <= slot {
			c.add(t.ring[i].Rows, t.ring[i].Bytes)
		}
	}
	return c
}

// Load is what one region or one salt bucket was given.
type Load struct {
	Region Region `json:"region,omitzero"` // of a region's load
	Bucket int    `json:"bucket"`          // of a bucket's load
	Total  Count  `json:"total"`
	Recent Count  `json:"recent"` // in the last Window
}

// Report is the state of one table.
type Report struct {
	Regions        []Load  `json:"regions"` // in key order
	Buckets        []Load  `json:"buckets,omitempty"`
	Total          Indices `json:"total"`  // of rows over regions since the start
	Recent         Indices `json:"recent"` // of rows over regions in the last Window
	BucketsTotal   Indices `json:"buckets_total"`
	RowsTotal      int64   `json:"rows_total"`
	RowsRecent     int64   `json:"rows_recent"`
	WindowsSeconds float64 `json:"window_seconds"`
}

// Report measures the counts as they are now.
func (c *Counter) Report() Report {
	slot := c.now().UnixNano() / int64(slotTime)
	c.mu.Lock()
	defer c.mu.Unlock()
	rep := Report{WindowsSeconds: Window.Seconds()}
	for _, t := range c.regions {
		rep.Regions = append(rep.Regions, Load{Region: t.region, Total: t.total, Recent: t.recent(slot)})
	}
	slices.SortFunc(rep.Regions, func(a, b Load) int { return bytes.Compare(a.Region.Start, b.Region.Start) })
	for i := range c.buckets {
		t := &c.buckets[i]
		rep.Buckets = append(rep.Buckets, Load{Bucket: i, Total: t.total, Recent: t.recent(slot)})
	}
	for _, l := range rep.Regions {
		rep.RowsTotal += l.Total.Rows
		rep.RowsRecent += l.Recent.Rows
	}
	rep.Total = Measure(rows(rep.Regions, func(l Load) Count { return l.Total }))
	rep.Recent = Measure(rows(rep.Regions, func(l Load) Count { return l.Recent }))
	rep.BucketsTotal = Measure(rows(rep.Buckets, func(l Load) Count { return l.Total }))
	return rep
}

func rows(loads []Load, which func(Load) Count) []float64 {
	out := make([]float64, len(loads))
	for i, l := range loads {
		out[i] = float64(which(l).Rows)
	}
	return out
}

// Top splits loads into the k with the most rows, largest first, and the sum of the others with their number.
func Top(loads []Load, k int) (top []Load, other Count, others int) {
	top = slices.Clone(loads)
	slices.SortStableFunc(top, func(a, b Load) int { return int(min(1, max(-1, b.Total.Rows-a.Total.Rows))) })
	if len(top) <= k {
		return top, Count{}, 0
	}
	for _, l := range top[k:] {
		other.add(l.Total.Rows, l.Total.Bytes)
	}
	return top[:k], other, len(top) - k
}
