package skew

import (
	"bytes"
	"slices"
	"time"
)

// history is what was written over key space and time: a column for each minute, with a bucket for each region. A table of more
// regions than buckets has those that take the most by themselves, and the others joined with their neighbours.
type history struct {
	columns []column // a ring
	next    int
	last    time.Duration // when the newest column ended
}

const (
	columnSpan  = time.Minute
	columnsKept = 8 * 60
)

// MostRanges is how many key ranges the history keeps of a minute at most.
const MostRanges = 1536

// column is one span of time.
type column struct {
	from, to    time.Time
	starts      []Key // of the buckets, in order; shared with the column before when it has the same
	rows, bytes []float32
}

// keep closes a column when it is due.
func (h *history) keep(at time.Duration, now time.Time, sorted []*tally) {
	if at < h.last+columnSpan {
		return
	}
	span := at - h.last
	h.last = at
	if len(h.columns) < columnsKept {
		h.columns = append(h.columns, column{})
	}
	col := newColumn(sorted, h.newest())
	col.from, col.to = now.Add(-span), now
	h.columns[h.next] = col
	h.next = (h.next + 1) % columnsKept
	for _, t := range sorted {
		t.column = Count{}
	}
}

func (h *history) newest() *column {
	if len(h.columns) == 0 {
		return nil
	}
	return &h.columns[(h.next+columnsKept-1)%columnsKept%len(h.columns)]
}

// ordered returns the columns, the oldest first.
func (h *history) ordered() []column {
	if len(h.columns) < columnsKept {
		return slices.Clone(h.columns)
	}
	return append(slices.Clone(h.columns[h.next:]), h.columns[:h.next]...)
}

func newColumn(sorted []*tally, before *column) column {
	most := fewest(sorted)
	var col column
	sum := int64(0)
	for i, t := range sorted {
		n := t.column.Rows
		if i == 0 || most < 0 || sum+n > most {
			col.starts = append(col.starts, t.region.Start)
			col.rows, col.bytes = append(col.rows, 0), append(col.bytes, 0)
			sum = 0
		}
		sum += n
		col.rows[len(col.rows)-1] += float32(n)
		col.bytes[len(col.bytes)-1] += float32(t.column.Bytes)
	}
	if before != nil && slices.EqualFunc(before.starts, col.starts, func(a, b Key) bool { return bytes.Equal(a, b) }) {
		col.starts = before.starts
	}
	return col
}

// fewest is the least number of rows that joined regions may have so that there are not too many buckets; −1: none are joined.
func fewest(sorted []*tally) int64 {
	if len(sorted) <= MostRanges {
		return -1
	}
	total := int64(0)
	for _, t := range sorted {
		total += t.column.Rows
	}
	from, to := int64(0), total // the answer lies in (from−1, to]
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
