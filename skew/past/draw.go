package past

import (
	"slices"
	"time"

	"brine/skew"
)

// Draw draws buckets of length long, which are sorted by time, as a map with at most the given numbers of ranges and columns. Time goes
// without gaps from the first bucket to until: where no bucket was kept, nothing is known to have been written. If several buckets share a
// column, it shows the largest value of each range.
func Draw(list []Bucket, long time.Duration, until time.Time, ranges, columns int) skew.HeatMap {
	if len(list) == 0 || ranges < 1 || columns < 1 {
		return skew.HeatMap{}
	}
	first := list[0].At
	n := max(1, int((until.Sub(first)+long-1)/long))
	share := (n + columns - 1) / columns // buckets per column
	each := time.Duration(share) * long
	cells := make([]Bucket, (n+share-1)/share)
	for len(list) > 0 {
		c := int(list[0].At.Sub(first) / each)
		k := slices.IndexFunc(list, func(b Bucket) bool { return int(b.At.Sub(first)/each) != c })
		if k < 0 {
			k = len(list)
		}
		if c < len(cells) {
			cells[c] = Most(list[:k])
		}
		list = list[k:]
	}
	m := skew.HeatMap{Starts: axisOf(cells, ranges)}
	m.Rows, m.Bytes = make([][]float64, len(m.Starts)), make([][]float64, len(m.Starts))
	for r := range m.Starts {
		m.Rows[r], m.Bytes[r] = make([]float64, len(cells)), make([]float64, len(cells))
	}
	for c := range cells {
		end := first.Add(time.Duration(c+1) * each)
		if end.After(until) {
			end = until
		}
		m.Times = append(m.Times, end)
		cells[c].spread(m.Starts, func(r int, rows, bytes float32) {
			m.Rows[r][c] += float64(rows)
			m.Bytes[r][c] += float64(bytes)
			m.Most = max(m.Most, m.Rows[r][c])
		})
	}
	return m
}

// axisOf returns the ranges of the map: those of all columns, of which the hottest stay separate.
func axisOf(cells []Bucket, ranges int) []skew.Key {
	some := slices.DeleteFunc(slices.Clone(cells), func(b Bucket) bool { return len(b.Starts) == 0 })
	if len(some) == 0 {
		return nil
	}
	starts := union(some)
	most := make([]float32, len(starts))
	for i := range some {
		some[i].spread(starts, func(r int, rows, _ float32) { most[r] = max(most[r], rows) })
	}
	return axis(starts, most, ranges)
}
