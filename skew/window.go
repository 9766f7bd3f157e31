package skew

import "time"

// Count is how much was written.
type Count struct {
	Rows    int64         `json:"rows"`
	Bytes   int64         `json:"bytes"`
	Time    time.Duration `json:"nanoseconds,omitempty"` // from sending a call to its answer; a call to several regions counts for each
	Retries int64         `json:"retries,omitempty"`     // mutations sent again
}

func (c *Count) add(n Count) {
	c.Rows += n.Rows
	c.Bytes += n.Bytes
	c.Time += n.Time
	c.Retries += n.Retries
}

// take removes a part from c and returns it.
func (c *Count) take(part float64) Count {
	n := Count{scaled(c.Rows, part), scaled(c.Bytes, part), scaled(c.Time, part), scaled(c.Retries, part)}
	c.Rows -= n.Rows
	c.Bytes -= n.Bytes
	c.Time -= n.Time
	c.Retries -= n.Retries
	return n
}

func scaled[T ~int64](n T, part float64) T { return T(float64(n) * part) }

// The sliding windows. Each is a ring of slots, so it covers its own length, or up to one slot less.
const (
	overMinute = iota
	overFiveMinutes
	overHour
	windows
)

// Window is the time that Load.Recent covers.
const Window = time.Minute

// spans are the windows' slots. Those of all windows follow one another in counts.slots.
var spans = [windows]struct {
	slot    time.Duration
	from, n int
}{
	overMinute:      {5 * time.Second, 0, 12},
	overFiveMinutes: {30 * time.Second, 12, 10},
	overHour:        {5 * time.Minute, 22, 12},
}

const allSlots = 12 + 10 + 12

// counts are what was written to one place (a region or a bucket): in total, and in each window. Times are since the counter was made, and
// monotonic.
type counts struct {
	total  Count
	slots  [allSlots]Count
	newest [windows]int64 // the last written slot

	burst       [bursts]uint32 // rows per second
	burstNewest int64

	column columnCount // since the last column of the history

	own Count // without what it took over
}

// columnCount is what a column of the history counts of a region.
type columnCount struct {
	Count
	calls    int64 // answered, to which Count.Time belongs
	requests int64 // reads and writes of all clients, as the cluster reports them

	reads   int64 // answered calls of this process
	reading time.Duration
}

func (c *columnCount) add(n Count) {
	c.Count.add(n)
	if n.Time > 0 {
		c.calls++
	}
}

func (c *columnCount) join(o columnCount) {
	c.Count.add(o.Count)
	c.calls += o.calls
	c.requests += o.requests
	c.reads += o.reads
	c.reading += o.reading
}

func (c *columnCount) take(part float64) columnCount {
	n := columnCount{c.Count.take(part), scaled(c.calls, part), scaled(c.requests, part), scaled(c.reads, part), scaled(c.reading, part)}
	c.calls -= n.calls
	c.requests -= n.requests
	c.reads -= n.reads
	c.reading -= n.reading
	return n
}

// latency returns the mean duration of the write calls in ms; 0: there were none.
func (c *columnCount) latency() float32 { return mean(c.Time, c.calls) }

// readLatency returns the mean duration of the reads in ms; 0: there were none.
func (c *columnCount) readLatency() float32 { return mean(c.reading, c.reads) }

func mean(sum time.Duration, n int64) float32 {
	if n == 0 {
		return 0
	}
	return float32(sum.Seconds() * 1000 / float64(n))
}

const bursts = 12

func (c *counts) add(at time.Duration, n Count) {
	c.advance(at)
	c.total.add(n)
	c.column.add(n)
	c.own.add(n)
	for w, s := range spans {
		c.slots[s.from+int(c.newest[w]%int64(s.n))].add(n)
	}
	c.burst[c.burstNewest%bursts] += uint32(n.Rows)
}

// advance empties the slots that have become too old.
func (c *counts) advance(at time.Duration) {
	for w, s := range spans {
		now := int64(at / s.slot)
		for i := max(c.newest[w], now-int64(s.n)); i < now; i++ {
			c.slots[s.from+int((i+1)%int64(s.n))] = Count{}
		}
		c.newest[w] = max(c.newest[w], now)
	}
	now := int64(at / time.Second)
	for i := max(c.burstNewest, now-bursts); i < now; i++ {
		c.burst[(i+1)%bursts] = 0
	}
	c.burstNewest = max(c.burstNewest, now)
}

// over returns the sum of a window. The counts must have been advanced.
func (c *counts) over(window int) (sum Count) {
	s := spans[window]
	for _, n := range c.slots[s.from : s.from+s.n] {
		sum.add(n)
	}
	return sum
}

// seconds returns the rows of whole seconds, between from and to seconds ago. The counts must have been advanced.
func (c *counts) seconds(from, to int) (rows int64) {
	for ago := from; ago > to; ago-- {
		if i := c.burstNewest - int64(ago); i >= 0 {
			rows += int64(c.burst[i%bursts])
		}
	}
	return rows
}

// take moves a part of c into new counts. The sums stay the same.
func (c *counts) take(part float64) *counts {
	n := &counts{total: c.total.take(part), newest: c.newest, burstNewest: c.burstNewest, column: c.column.take(part)}
	for i := range c.slots {
		n.slots[i] = c.slots[i].take(part)
	}
	for i := range c.burst {
		n.burst[i] = uint32(float64(c.burst[i]) * part)
		c.burst[i] -= n.burst[i]
	}
	return n
}

// join adds o, which is advanced to the same time, to c.
func (c *counts) join(o *counts) {
	c.total.add(o.total)
	c.column.join(o.column)
	for i := range c.slots {
		c.slots[i].add(o.slots[i])
	}
	for i := range c.burst {
		c.burst[i] += o.burst[i]
	}
}
