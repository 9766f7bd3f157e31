// Package past is the history of a table's map: buckets as they are stored, added up over the members of a group, made coarser, and drawn.
// It is pure, and imports only packages of ours whose history it is.
//
// The invariant: a bucket made of others has, in each key range, the largest value that any of them had there, so that no hot range
// disappears, whatever becomes of the others.
package past

import (
	"bytes"
	"slices"
	"time"

	"brine/skew"
)

// Minute is the length of the finest buckets.
const Minute = time.Minute

// Bucket is what was written in a span of time, by key range: rows and bytes per second.
type Bucket struct {
	At          time.Time  // when it begins
	Starts      []skew.Key // of the ranges, in order
	Rows, Bytes []float32
	MB          int64 // of the table; 0: unknown
}

// Of returns the minute's bucket for a column. A column is a minute long, or shorter where a process began or ended. Its rates are over
// at least a minute (least), so that two processes that share a minute add up. For a column that is still open, least is less.
func Of(c *skew.Column, least time.Duration) Bucket {
	n := len(c.Rows)
	middle := c.From.Add(c.To.Sub(c.From) / 2) // a column may begin a moment before its minute
	b := Bucket{At: middle.Truncate(Minute), Starts: c.Starts, Rows: make([]float32, n), Bytes: make([]float32, n), MB: c.MB}
	seconds := float32(max(least, c.To.Sub(c.From)).Seconds())
	for i := range c.Rows {
		b.Rows[i], b.Bytes[i] = c.Rows[i]/seconds, c.Bytes[i]/seconds
	}
	return b
}

// Sum adds up what several members have for the same span of time.
func Sum(list []Bucket) Bucket {
	return combined(list, func(a, b float32) float32 { return a + b })
}

// Most returns one bucket for several consecutive ones. It begins with the first.
func Most(list []Bucket) Bucket {
	return combined(list, func(a, b float32) float32 { return max(a, b) })
}

// combined returns a bucket with the ranges of all, up to skew.MostRanges. What a bucket has for a wider range is divided evenly.
func combined(list []Bucket, by func(a, b float32) float32) Bucket {
	if len(list) == 1 {
		return list[0]
	}
	var out Bucket
	if len(list) == 0 {
		return out
	}
	out.At, out.Starts = list[0].At, union(list)
	out.Rows, out.Bytes = make([]float32, len(out.Starts)), make([]float32, len(out.Starts))
	for i := range list {
		out.MB = max(out.MB, list[i].MB)
		list[i].spread(out.Starts, func(r int, rows, bytes float32) {
			out.Rows[r], out.Bytes[r] = by(out.Rows[r], rows), by(out.Bytes[r], bytes)
		})
	}
	if len(out.Starts) > skew.MostRanges {
		out.join(axis(out.Starts, out.Rows, skew.MostRanges))
	}
	return out
}

// union returns the starts of all buckets, in order.
func union(list []Bucket) []skew.Key {
	starts := list[0].Starts
	for i := 1; i < len(list); i++ {
		if !same(starts, list[i].Starts) {
			starts = slices.Concat(starts, list[i].Starts)
			slices.SortFunc(starts, compare)
			starts = slices.CompactFunc(starts, equal)
		}
	}
	return starts
}

func compare(a, b skew.Key) int { return bytes.Compare(a, b) }
func equal(a, b skew.Key) bool  { return bytes.Equal(a, b) }

func same(a, b []skew.Key) bool { return slices.EqualFunc(a, b, equal) }

// spread divides the bucket's values over ranges that begin at starts, which are sorted.
func (b *Bucket) spread(starts []skew.Key, give func(r int, rows, bytes float32)) {
	from := 0
	for i, start := range b.Starts {
		from += rangeOf(starts[from:], start)
		to := len(starts)
		if i+1 < len(b.Starts) {
			next := b.Starts[i+1]
			n, _ := slices.BinarySearchFunc(starts[from:], next, compare)
			to = from + max(1, n)
		}
		part := 1 / float32(to-from)
		for r := from; r < to; r++ {
			give(r, b.Rows[i]*part, b.Bytes[i]*part)
		}
	}
}

// rangeOf returns the range that holds a row. Rows before the first range count as in it.
func rangeOf(starts []skew.Key, row skew.Key) int {
	i, found := slices.BinarySearchFunc(starts, row, compare)
	if !found {
		i--
	}
	return max(0, i)
}

// join reduces the bucket to fewer ranges, and adds up those that become one.
func (b *Bucket) join(starts []skew.Key) {
	rows, bytes := make([]float32, len(starts)), make([]float32, len(starts))
	b.spread(starts, func(r int, n, m float32) { rows[r] += n; bytes[r] += m })
	b.Starts, b.Rows, b.Bytes = starts, rows, bytes
}

// axis reduces the starts to at most most: the ranges with the most stay separate, the others are joined with their neighbours.
func axis(starts []skew.Key, weights []float32, most int) []skew.Key {
	if len(starts) <= most {
		return starts
	}
	from, to := 0.0, 0.0 // with to, few enough are left; with from, too many
	for _, w := range weights {
		to += float64(w)
	}
	const halvings = 40
	for range halvings {
		if middle := (from + to) / 2; len(joined(starts, weights, middle)) <= most {
			to = middle
		} else {
			from = middle
		}
	}
	return joined(starts, weights, to)
}

// joined returns the starts that remain if neighbours are joined while their sum is at most a weight.
func joined(starts []skew.Key, weights []float32, most float64) (left []skew.Key) {
	sum := 0.0
	for i, w := range weights {
		if i == 0 || sum+float64(w) > most {
			left = append(left, starts[i])
			sum = 0
		}
		sum += float64(w)
	}
	return left
}
