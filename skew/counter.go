package skew

import (
	"sync"
	"time"
)

// Shape is what is known about the keys of a table. Any of it may be missing.
type Shape struct {
	Buckets int                           // number of buckets of the salt with which the key begins
	Bucket  func(row []byte) int          // bucket of a row; -1: none
	Head    func(row []byte) int          // end of the first field that is whole in the row; 0: none is
	Text    func(beginning []byte) string // fields that a row, or the beginning of one, holds whole; empty: none
	Fields  []string                      // fields of the key
	Timed   bool                          // the first field that is whole in the row is a time
}

// Batch is what one region acknowledged in one call.
type Batch struct {
	Region Region
	Count  Count
	Rows   Rows // nil: unknown
}

// Rows are the row keys of a batch: Count.Rows of them, all nil if they are unknown.
type Rows interface{ Row(i int) []byte }

// Counter counts the writes to one table. It is safe for concurrent use. Add is called once per region of each answered call. It looks at
// all row keys up to everyKey per second, and at a sample of them above that.
type Counter struct {
	now   func() time.Time
	began time.Time

	mu      sync.Mutex
	shape   Shape
	at      time.Duration // since began; monotonic, whatever happens to the clock
	regions regions
	buckets []counts
	sample  *sample
	stride  stride
	heads   [2]*sketch // of this half minute and of the one before
	halves  int64      // half minutes since began
	fields  map[string]*[2]*sketch
	writers writers
	loads   loads
	past    history
	causes  causes
}

// A table's heavy hitters cover the last half minute to minute.
const (
	sketchSpan     = 30 * time.Second
	sketchCounters = 512
)

// NewCounter returns a counter for a table whose keys have this shape.
func NewCounter(shape Shape, now func() time.Time) *Counter {
	c := &Counter{now: now, began: now(), shape: shape, buckets: make([]counts, shape.Buckets), sample: newSample(),
		fields: map[string]*[2]*sketch{}, writers: newWriters()}
	c.past.minute = minuteOf(c.began)
	c.regions.named = make(map[string]*tally)
	c.heads = newSketches()
	return c
}

// Reshape gives the keys another shape with the same number of buckets. It forgets which keys and fields were written, and by whom, because
// the old shape named them.
func (c *Counter) Reshape(shape Shape) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shape, c.sample, c.heads, c.writers = shape, newSample(), newSketches(), newWriters()
	clear(c.fields)
	c.tick()
}

func newSketches() [2]*sketch {
	return [2]*sketch{newSketch(sketchCounters), newSketch(sketchCounters)}
}

// tick advances everything that slides to now. The caller holds c.mu.
func (c *Counter) tick() time.Duration {
	c.at = max(c.at, c.now().Sub(c.began))
	c.sample.advance(c.at)
	half := int64(c.at / sketchSpan)
	if half > c.halves {
		c.turn(&c.heads, half)
		c.turn(&c.writers.counts, half)
		for _, f := range c.fields {
			c.turn(f, half)
		}
		c.halves = half
	}
	return c.at
}

func (c *Counter) turn(s *[2]*sketch, half int64) {
	s[0], s[1] = s[1], s[0]
	s[0].reset()
	if half > c.halves+1 {
		s[1].reset()
	}
}

// SetRegions sets the table's regions, so that those without writes count as zero. What was written to regions that are no longer listed
// moves to those in their place.
func (c *Counter) SetRegions(list []Region) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.tick()
	for _, r := range list {
		c.regions.of(r, at, c.share)
	}
}

// advance brings the counts of all places to now. The caller holds c.mu.
func (c *Counter) advance() {
	at := c.tick()
	for _, t := range c.regions.sorted {
		t.advance(at)
	}
	for i := range c.buckets {
		c.buckets[i].advance(at)
	}
}

// share returns the part of a region's rows that lies within a part of the region: the sampled part, or half if the sample has too few
// rows.
func (c *Counter) share(within, whole Region) float64 {
	const enough = 16
	in, of := 0, 0
	for i := range c.sample.slots {
		for _, r := range c.sample.slots[i].rows {
			if whole.holds(r.row) {
				of++
				if within.holds(r.row) {
					in++
				}
			}
		}
	}
	if of < enough {
		return 0.5
	}
	return float64(in) / float64(of)
}

// Regions returns the number of known regions.
func (c *Counter) Regions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.regions.sorted)
}

// Add counts rows that a region acknowledged.
func (c *Counter) Add(b Batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.tick()
	c.regions.of(b.Region, at, c.share).add(at, b.Count)
	if b.Rows == nil || b.Count.Rows == 0 || len(b.Rows.Row(0)) == 0 {
		return
	}
	each := c.stride.of(at, b.Count.Rows)
	for i := range int(b.Count.Rows) {
		if at := c.sample.place(); at >= 0 {
			c.sample.put(at, b.Rows.Row(i))
		}
		if c.shape.Head != nil && c.stride.takes(each, c.sample.rnd) {
			row := b.Rows.Row(i)
			if end := c.shape.Head(row); end > 0 {
				c.heads[0].addTimes(row[:end], each)
			}
		}
	}
}

// AddRead counts an answered read of a region. It is called for each, so it allocates nothing for a region that is known.
func (c *Counter) AddRead(r Region, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.regions.of(r, c.tick(), c.share)
	t.column.reads++
	t.column.reading += took
}

// AddRetries counts mutations that a region, given by its name, did not take and that are sent again.
func (c *Counter) AddRetries(region string, mutations int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.regions.named[region]; t != nil {
		t.add(c.tick(), Count{Retries: mutations})
	}
}

// AddBucket counts rows that were written to one salt bucket.
func (c *Counter) AddBucket(bucket int, rows, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bucket >= 0 && bucket < len(c.buckets) {
		c.buckets[bucket].add(c.tick(), Count{Rows: rows, Bytes: bytes})
	}
}

// AddField counts the values of a field in n events that were handed over to be written. Empty values are not counted.
func (c *Counter) AddField(field string, n int, value func(i int) []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick()
	s := c.fields[field]
	if s == nil {
		fresh := newSketches()
		s = &fresh
		c.fields[field] = s
	}
	for i := range n {
		if v := value(i); len(v) > 0 {
			s[0].add(v)
		}
	}
}
