package past

import (
	"slices"
	"time"

	"brine/skew"
)

// Shape is how fine a map is, and what it shows.
type Shape struct {
	Ranges, Columns int         // at most
	Metric          skew.Metric // empty: rows and bytes
}

// Draw draws buckets of length long, which are sorted by time, as a map. Time goes without gaps from the first bucket to until: where no
// bucket was kept, nothing is known to have been written. If several buckets share a column, it shows the largest value of each range.
func Draw(list []Bucket, long time.Duration, until time.Time, of Shape) skew.HeatMap {
	if len(list) == 0 || of.Ranges < 1 || of.Columns < 1 {
		return skew.HeatMap{}
	}
	first := list[0].At
	n := max(1, int((until.Sub(first)+long-1)/long))
	share := (n + of.Columns - 1) / of.Columns // buckets per column
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
	shown := shownOf(of.Metric)
	m := skew.HeatMap{Starts: axisOf(cells, &shown[0], of.Ranges)}
	for c := range cells {
		end := first.Add(time.Duration(c+1) * each)
		if end.After(until) {
			end = until
		}
		m.Times = append(m.Times, end)
	}
	for i := range shown {
		s := &shown[i]
		into := m.Of(s.metric)
		most := s.draw(cells, m.Starts, into)
		if i == 0 {
			m.Most = most
		}
	}
	if of.Metric == skew.MetricRequests {
		for c := range cells {
			if cells[c].Requests == nil {
				m.Unknown = append(m.Unknown, c)
			}
		}
	}
	return m
}

// shownOf returns the series of a map. The first one decides which ranges stay separate.
func shownOf(metric skew.Metric) []series {
	if metric == "" {
		return all[:2]
	}
	i := slices.IndexFunc(all, func(s series) bool { return s.metric == metric })
	return all[i : i+1]
}

// draw fills a map's values of the series, by range, then by column, and returns the largest.
func (s *series) draw(cells []Bucket, starts []skew.Key, into *[][]float64) (most float64) {
	*into = make([][]float64, len(starts))
	for r := range starts {
		(*into)[r] = make([]float64, len(cells))
	}
	for c := range cells {
		values := *s.of(&cells[c])
		if values == nil {
			continue
		}
		cells[c].spread(starts, func(i, r int, part float32) {
			to := &(*into)[r][c]
			if n := float64(s.part(values[i], part)); s.rate {
				*to += n
			} else {
				*to = max(*to, n)
			}
			most = max(most, *to)
		})
	}
	return most
}

// axisOf returns the ranges of the map: those of all columns, of which the hottest stay separate.
func axisOf(cells []Bucket, s *series, ranges int) []skew.Key {
	some := slices.DeleteFunc(slices.Clone(cells), func(b Bucket) bool { return len(b.Starts) == 0 })
	if len(some) == 0 {
		return nil
	}
	starts := union(some)
	most := make([]float32, len(starts))
	for i := range some {
		if values := *s.of(&some[i]); values != nil {
			some[i].spread(starts, func(i, r int, part float32) { most[r] = max(most[r], s.part(values[i], part)) })
		}
	}
	return axis(starts, most, ranges)
}

// Within returns what the buckets have for regions, which are sorted, and nothing for keys elsewhere: only ranges of the regions are left.
func Within(list []Bucket, regions []skew.Region) []Bucket {
	bounds := boundsOf(regions)
	var before, starts, left []skew.Key // of the bucket before: what it began with, its parts, and those of them that are left
	var at []int                        // where what is left lies among the parts
	out := make([]Bucket, 0, len(list))
	for i := range list {
		if i == 0 || !same(before, list[i].Starts) {
			before = list[i].Starts
			starts = union([]Bucket{{Starts: before}, {Starts: bounds}})
			left, at = nil, nil
			for n, start := range starts {
				if holds(regions, start) {
					left, at = append(left, start), append(at, n)
				}
			}
		}
		out = append(out, list[i].over(starts).pick(left, at))
	}
	return out
}

// boundsOf returns where the regions begin and end; neighbours have one bound in common.
func boundsOf(regions []skew.Region) (bounds []skew.Key) {
	for i := range regions {
		r := &regions[i]
		if n := len(bounds); n == 0 || !equal(bounds[n-1], r.Start) {
			bounds = append(bounds, r.Start)
		}
		if len(r.End) > 0 {
			bounds = append(bounds, r.End)
		}
	}
	return bounds
}

// holds reports whether a row is in one of the regions, which are sorted.
func holds(regions []skew.Region, row skew.Key) bool {
	i, found := slices.BinarySearchFunc(regions, row, func(r skew.Region, row skew.Key) int { return compare(r.Start, row) })
	if !found {
		i--
	}
	return i >= 0 && (len(regions[i].End) == 0 || compare(row, regions[i].End) < 0)
}

// pick returns the bucket with the ranges at some places alone.
func (b Bucket) pick(starts []skew.Key, at []int) Bucket {
	out := Bucket{At: b.At, Starts: starts, MB: b.MB}
	for _, s := range out.like(&b, len(at)) {
		for n, from := range at {
			s.to[n] = s.from[from]
		}
	}
	return out
}
