package skew

import (
	"bytes"
	"slices"
	"time"
)

// Region identifies a region and its range.
type Region struct {
	Name   string `json:"name"` // encoded name
	ID     int64  `json:"-"`    // a region's successors have larger ones; 0: newer than any other
	Start  Key    `json:"start"`
	End    Key    `json:"end"`
	Server string `json:"server"`
}

// tally is what was written to one region.
type tally struct {
	region Region
	*counts
	load regionLoad
	hot  hotState
}

// regions are the known regions of a table. Their ranges do not overlap. If a region is split or merged, what was written to it moves to
// its successors, so the sums never change.
type regions struct {
	sorted []*tally // by start
	named  map[string]*tally
}

// of returns the tally of a region. If the region is new, it takes over from the older ones in its range. If it is itself an older one,
// whose answer came late, of returns the newer region that holds its first row.
func (rs *regions) of(r Region, at time.Duration, share func(within, whole Region) float64) *tally {
	if t := rs.named[r.Name]; t != nil {
		if t.region.Server != r.Server {
			t.region.Server = r.Server
		}
		return t
	}
	from, to := rs.overlap(r)
	for _, o := range rs.sorted[from:to] {
		if r.ID != 0 && o.region.ID > r.ID {
			return o
		}
	}
	t := &tally{region: r, counts: new(counts)}
	var left []*tally
	t.advance(at)
	for _, o := range rs.sorted[from:to] {
		o.advance(at)
		left = append(left, t.takeOver(o, share)...)
		delete(rs.named, o.region.Name)
	}
	rs.sorted = slices.Replace(rs.sorted, from, to, append(left, t)...)
	slices.SortFunc(rs.sorted[from:from+len(left)+1], func(a, b *tally) int { return bytes.Compare(a.region.Start, b.region.Start) })
	for _, o := range left {
		if o.region.Name != "" {
			rs.named[o.region.Name] = o
		}
	}
	rs.named[r.Name] = t
	return t
}

// takeOver moves what was written to an older region within t's range to t, and returns what is left of the older one on either side.
func (t *tally) takeOver(o *tally, share func(within, whole Region) float64) (left []*tally) {
	name := o.region.Name
	if bytes.Compare(o.region.Start, t.region.Start) < 0 {
		rest := o.region
		rest.End = t.region.Start
		left = append(left, &tally{region: rest, counts: o.take(share(rest, o.region)), hot: o.hot})
		o.region.Start, name = t.region.Start, ""
	}
	if len(t.region.End) > 0 && (len(o.region.End) == 0 || bytes.Compare(t.region.End, o.region.End) < 0) {
		rest := o.region
		rest.Start, rest.Name = t.region.End, name
		left = append(left, &tally{region: rest, counts: o.take(share(rest, o.region)), hot: o.hot})
	}
	t.join(o.counts)
	return left
}

// overlap returns the positions of the regions that share rows with r.
func (rs *regions) overlap(r Region) (from, to int) {
	from, same := slices.BinarySearchFunc(rs.sorted, r.Start, func(t *tally, start Key) int { return bytes.Compare(t.region.Start, start) })
	if !same && from > 0 && rs.sorted[from-1].region.reaches(r.Start) {
		from--
	}
	to = from
	for to < len(rs.sorted) && (len(r.End) == 0 || bytes.Compare(rs.sorted[to].region.Start, r.End) < 0) {
		to++
	}
	return from, to
}

// reaches reports whether the region ends after a row.
func (r *Region) reaches(row []byte) bool { return len(r.End) == 0 || bytes.Compare(row, r.End) < 0 }

// holds reports whether the row is in the region.
func (r *Region) holds(row []byte) bool { return bytes.Compare(r.Start, row) <= 0 && r.reaches(row) }

// On returns the regions that a server has, in order.
func (c *Counter) On(server string) (list []Region) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.regions.sorted {
		if t.region.Server == server {
			list = append(list, t.region)
		}
	}
	return list
}
