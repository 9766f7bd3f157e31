package skew

import (
	"bytes"
	"slices"
	"time"
)

// history is what was written over key space and time: one column per minute, with one bucket per region. If a table has more regions than
// buckets, those that take the most keep their own and the others are joined with their neighbours.
type history struct {
	columns []Column // a ring
	next    int
	minute  int64         // minute of the clock that the open column covers
	last    time.Duration // end of the newest column

	observed time.Duration // what the cluster's reports since then cover
	reported bool          // whether there were any
}

const columnsKept = 8 * 60

// MostRanges is the most key ranges that the history keeps per minute.
const MostRanges = 1536

// Column is what was written in one span of time, by key range.
type Column struct {
	From, To    time.Time
	Starts      []Key // of the ranges, in order; shared with the column before if they are the same
	Rows, Bytes []float32
	MB          int64 // of the table, in files and in memory, as the cluster reports it; 0: unknown

	Requests []float32     // reads and writes of all clients, as the cluster reports them; nil: it reported none
	Observed time.Duration // time in which Requests were counted
	Latency  []float32     // mean duration of the answered write calls in ms, of the region with the longest; 0: there were none

	ReadLatency []float32 // the same of reads; nil: the table was not read
}

// Empty reports whether nothing was written, read or reported.
func (c *Column) Empty() bool {
	wrote := func(n float32) bool { return n > 0 }
	return c.MB == 0 && c.Observed == 0 && c.ReadLatency == nil && !slices.ContainsFunc(c.Rows, wrote)
}

// keep closes a column at the end of each minute of the clock, so that the columns of several members coincide.
func (h *history) keep(at time.Duration, now time.Time, sorted []*tally) {
	minute := minuteOf(now)
	if minute == h.minute || at == h.last {
		return
	}
	span := at - h.last
	h.minute, h.last = minute, at
	if len(h.columns) < columnsKept {
		h.columns = append(h.columns, Column{})
	}
	col := h.column(sorted)
	h.observed, h.reported = 0, false
	col.From, col.To = now.Add(-span), now
	h.columns[h.next] = col
	h.next = (h.next + 1) % columnsKept
	for _, t := range sorted {
		t.column = columnCount{}
	}
}

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

func (h *history) newest() *Column {
	if len(h.columns) == 0 {
		return nil
	}
	return &h.columns[(h.next+columnsKept-1)%columnsKept%len(h.columns)]
}

// ordered returns the columns, oldest first.
func (h *history) ordered() []Column {
	if len(h.columns) < columnsKept {
		return slices.Clone(h.columns)
	}
	return append(slices.Clone(h.columns[h.next:]), h.columns[:h.next]...)
}

// Columns returns the columns after a moment, oldest first, and what was written since the newest of them.
func (c *Counter) Columns(after time.Time) (closed []Column, open Column) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	closed = slices.DeleteFunc(c.past.ordered(), func(col Column) bool { return !col.To.After(after) })
	return closed, c.open()
}

// open returns the column that is still open. The caller holds c.mu.
func (c *Counter) open() Column {
	col := c.past.column(c.regions.sorted)
	col.From, col.To = c.now().Add(c.past.last-c.at), c.now()
	return col
}

// column returns what has been counted since the newest column, without its times.
func (h *history) column(sorted []*tally) Column {
	weights, most := fewest(sorted)
	col := Column{Observed: h.observed}
	sum, read := int64(0), false
	for i, t := range sorted {
		if i == 0 || most < 0 || sum+weights[i] > most {
			col.Starts = append(col.Starts, t.region.Start)
			col.Rows, col.Bytes = append(col.Rows, 0), append(col.Bytes, 0)
			col.Latency, col.ReadLatency = append(col.Latency, 0), append(col.ReadLatency, 0)
			if h.observed > 0 {
				col.Requests = append(col.Requests, 0)
			}
			sum = 0
		}
		if most >= 0 {
			sum += weights[i]
		}
		last := len(col.Rows) - 1
		col.Rows[last] += float32(t.column.Rows)
		col.Bytes[last] += float32(t.column.Bytes)
		col.Latency[last] = max(col.Latency[last], t.column.latency())
		col.ReadLatency[last] = max(col.ReadLatency[last], t.column.readLatency())
		read = read || t.column.reads > 0
		if h.observed > 0 {
			col.Requests[last] += float32(t.column.requests)
		}
		if h.reported {
			col.MB += t.load.mb
		}
	}
	if !read {
		col.ReadLatency = nil
	}
	if before := h.newest(); before != nil && slices.EqualFunc(before.Starts, col.Starts, func(a, b Key) bool { return bytes.Equal(a, b) }) {
		col.Starts = before.Starts
	}
	return col
}

// fewest returns the weights of regions, and the smallest weight that joined regions may have without exceeding the number of buckets; −1:
// none are joined.
func fewest(sorted []*tally) (weights []int64, most int64) {
	if len(sorted) <= MostRanges {
		return nil, -1
	}
	weights = weigh(sorted)
	total := int64(0)
	for _, n := range weights {
		total += n
	}
	from, to := int64(0), total // the answer is in (from−1, to]
	for from < to {
		most := (from + to) / 2
		if bucketsAt(weights, most) <= MostRanges {
			to = most
		} else {
			from = most + 1
		}
	}
	return weights, to
}

// weigh returns what each region takes of the rows, of the requests and of the reads, so that a region that other clients read or write
// most, or that this process reads most, is not joined with its neighbours either.
func weigh(sorted []*tally) []int64 {
	var sums columnCount
	for _, t := range sorted {
		sums.join(t.column)
	}
	weights := make([]int64, len(sorted))
	for i, t := range sorted {
		weights[i] = partOf(t.column.Rows, sums.Rows) + partOf(t.column.requests, sums.requests) + partOf(t.column.reads, sums.reads)
	}
	return weights
}

// partOf returns what part n is of a sum, which may be 0, in 2^40ths.
func partOf(n, sum int64) int64 {
	const whole = 1 << 40
	return int64(whole * float64(n) / float64(max(1, sum)))
}

func bucketsAt(weights []int64, most int64) (n int) {
	sum := int64(0)
	for i, w := range weights {
		if i == 0 || sum+w > most {
			n++
			sum = 0
		}
		sum += w
	}
	return n
}
