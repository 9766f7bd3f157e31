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
	col := newColumn(sorted, h.newest())
	col.From, col.To = now.Add(-span), now
	h.columns[h.next] = col
	h.next = (h.next + 1) % columnsKept
	for _, t := range sorted {
		t.column = Count{}
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
	col := newColumn(c.regions.sorted, c.past.newest())
	col.From, col.To = c.now().Add(c.past.last-c.at), c.now()
	return col
}

func newColumn(sorted []*tally, before *Column) Column {
	most := fewest(sorted)
	var col Column
	sum := int64(0)
	for i, t := range sorted {
		n := t.column.Rows
		if i == 0 || most < 0 || sum+n > most {
			col.Starts = append(col.Starts, t.region.Start)
			col.Rows, col.Bytes = append(col.Rows, 0), append(col.Bytes, 0)
			sum = 0
		}
		sum += n
		col.Rows[len(col.Rows)-1] += float32(n)
		col.Bytes[len(col.Bytes)-1] += float32(t.column.Bytes)
		col.MB += t.load.mb
	}
	if before != nil && slices.EqualFunc(before.Starts, col.Starts, func(a, b Key) bool { return bytes.Equal(a, b) }) {
		col.Starts = before.Starts
	}
	return col
}

// fewest returns the smallest number of rows that joined regions may have without exceeding the number of buckets; −1: none are joined.
func fewest(sorted []*tally) int64 {
	if len(sorted) <= MostRanges {
		return -1
	}
	total := int64(0)
	for _, t := range sorted {
		total += t.column.Rows
	}
	from, to := int64(0), total // the answer is in (from−1, to]
	for from < to {
		most := (from + to) / 2
		if bucketsAt(sorted, most) <= MostRanges {
			to = most
		} else {
			from = most + 1
		}
	}
	return to
}

func bucketsAt(sorted []*tally, most int64) (n int) {
	sum := int64(0)
	for i, t := range sorted {
		if i == 0 || sum+t.column.Rows > most {
			n++
			sum = 0
		}
		sum += t.column.Rows
	}
	return n
}
