// Package past is the history of a table's map: buckets as they are stored, added up over the members of a group, made coarser, and drawn.
// It is pure, and of our packages it imports only skew.
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

// Bucket is what happened to a table in a span of time, by key range.
type Bucket struct {
	At          time.Time  // when it begins
	Starts      []skew.Key // of the ranges, in order
	Rows, Bytes []float32  // written by brine, per second
	Requests    []float32  // reads and writes of all clients, per second; nil: the cluster reported none
	Latency     []float32  // duration of brine's write calls in ms; 0: there were none; nil: not kept
	ReadLatency []float32  // the same of its reads; nil: there were none, or they are not kept
	MB          int64      // of the table; 0: unknown
}

// series is one of a bucket's values by key range, and how it is combined.
type series struct {
	metric skew.Metric
	of     func(*Bucket) *[]float32
	rate   bool // divided evenly over the parts of a range, and added up where ranges are joined; otherwise the largest counts
	added  bool // what members have is added up; otherwise each of them has the whole, and the largest counts
}

// all lists the series. The order is that in which they are stored.
var all = []series{
	{skew.MetricRows, func(b *Bucket) *[]float32 { return &b.Rows }, true, true},
	{skew.MetricBytes, func(b *Bucket) *[]float32 { return &b.Bytes }, true, true},
	{skew.MetricRequests, func(b *Bucket) *[]float32 { return &b.Requests }, true, false},
	{skew.MetricLatency, func(b *Bucket) *[]float32 { return &b.Latency }, false, false},
	{skew.MetricReadLatency, func(b *Bucket) *[]float32 { return &b.ReadLatency }, false, false},
}

// part returns what a part of a range has of its value.
func (s *series) part(value, part float32) float32 {
	if s.rate {
		return value * part
	}
	return value
}

// join returns the value of a range that is made of two.
func (s *series) join(a, b float32) float32 {
	if s.rate {
		return a + b
	}
	return max(a, b)
}

// Of returns the minute's bucket for a column. A column is a minute long, or shorter where a process began or ended. Its rates are over
// at least a minute (least), so that two processes that share a minute add up. For a column that is still open, least is less. Requests are
// over the time in which the cluster reported them.
func Of(c *skew.Column, least time.Duration) Bucket {
	n := len(c.Rows)
	middle := c.From.Add(c.To.Sub(c.From) / 2) // a column may begin a moment before its minute
	b := Bucket{At: middle.Truncate(Minute), Starts: c.Starts, Rows: make([]float32, n), Bytes: make([]float32, n), MB: c.MB,
		Latency: c.Latency, ReadLatency: c.ReadLatency}
	seconds := float32(max(least, c.To.Sub(c.From)).Seconds())
	for i := range c.Rows {
		b.Rows[i], b.Bytes[i] = c.Rows[i]/seconds, c.Bytes[i]/seconds
	}
	for _, n := range c.Requests {
		b.Requests = append(b.Requests, n/float32(c.Observed.Seconds()))
	}
	return b
}

// Sum returns one bucket for what several members have for the same span of time.
func Sum(list []Bucket) Bucket {
	return combined(list, func(s *series, a, b float32) float32 {
		if s.added {
			return a + b
		}
		return max(a, b)
	})
}

// Most returns one bucket for several consecutive ones. It begins with the first.
func Most(list []Bucket) Bucket {
	return combined(list, func(_ *series, a, b float32) float32 { return max(a, b) })
}

// combined returns a bucket with the ranges of all, up to skew.MostRanges. What a bucket has for a wider range is divided evenly.
func combined(list []Bucket, by func(s *series, a, b float32) float32) Bucket {
	if len(list) == 1 {
		return list[0]
	}
	var out Bucket
	if len(list) == 0 {
		return out
	}
	out.At, out.Starts = list[0].At, union(list)
	for i := range list {
		b := &list[i]
		out.MB = max(out.MB, b.MB)
		into := out.like(b, len(out.Starts))
		b.spread(out.Starts, func(i, r int, part float32) {
			for k := range into {
				s := &into[k]
				s.to[r] = by(s.series, s.to[r], s.part(s.from[i], part))
			}
		})
	}
	if len(out.Starts) > skew.MostRanges {
		out = out.over(axis(out.Starts, out.weights(), skew.MostRanges))
	}
	return out
}

// pair is a series of one bucket, and the same of another.
type pair struct {
	*series
	from, to []float32
}

// like returns the series that from has, and makes those that b lacks, with n ranges.
func (b *Bucket) like(from *Bucket, n int) (pairs []pair) {
	for i := range all {
		s := &all[i]
		if *s.of(from) == nil {
			continue
		}
		to := s.of(b)
		if *to == nil {
			*to = make([]float32, n)
		}
		pairs = append(pairs, pair{s, *s.of(from), *to})
	}
	return pairs
}

// weights returns what each range takes of the rows, of the requests and of the reads' latencies, which are all that a bucket has if its
// process only reads. The longest of the joined ranges' latencies stays.
func (b *Bucket) weights() []float32 {
	weights := make([]float32, len(b.Starts))
	for _, values := range [][]float32{b.Rows, b.Requests, b.ReadLatency} {
		sum := float32(0)
		for _, n := range values {
			sum += n
		}
		for i, n := range values {
			if sum > 0 {
				weights[i] += n / sum
			}
		}
	}
	return weights
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

// spread names the ranges over which the bucket's ranges are divided if ranges begin at starts, which are sorted: of each range i, a part
// lies in r.
func (b *Bucket) spread(starts []skew.Key, give func(i, r int, part float32)) {
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
			give(i, r, part)
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

// over returns the bucket with other ranges. What lies in one of them is joined.
func (b *Bucket) over(starts []skew.Key) Bucket {
	out := Bucket{At: b.At, Starts: starts, MB: b.MB}
	into := out.like(b, len(starts))
	b.spread(starts, func(i, r int, part float32) {
		for k := range into {
			s := &into[k]
			s.to[r] = s.join(s.to[r], s.part(s.from[i], part))
		}
	})
	return out
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
