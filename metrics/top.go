package metrics

import (
	"cmp"
	"maps"
	"slices"

	"brine/skew"
)

// ranking assigns what was written to the places of a table (regions or salt buckets) to series: the most written places have one each, and
// all others share one.
//
// The invariant: no series ever goes down, and their sum is what was written to the table. So what was written to a place counts for the
// series that stands for it at the time of the scrape, and stays there when the place changes to another.
type ranking struct {
	places   map[string]*placed
	looks    int        // number of looks at the places
	reported skew.Count // by series of their own, including series that are gone
}

type placed struct {
	look     int        // the last look that had it
	own      skew.Count // at the last look
	reported skew.Count // by its own series
	top      bool       // whether it has one
}

// shown is one series.
type shown struct {
	load     *skew.Load
	reported skew.Count
}

// stays is how many times as much as another must have been written to a place before it takes over the other's series, so that places that
// are nearly even do not keep changing.
const stays = 1.25

// update takes what was written to the places so far. It returns the series of at most k of them, and the series of the others, which
// include places without a known name.
func (r *ranking) update(loads []skew.Load, name func(*skew.Load) string, k int) (top []shown, other skew.Count) {
	if r.places == nil {
		r.places = make(map[string]*placed, len(loads))
	}
	r.looks++
	places := make([]*placed, len(loads))
	for i := range loads {
		l := &loads[i]
		places[i] = r.of(name(l), l.Own)
		other.Rows += l.Total.Rows
		other.Bytes += l.Total.Bytes
	}
	for rank, i := range order(loads, places, k) {
		l, p := &loads[i], places[i]
		if p.top = rank < k && p.look > 0; p.top {
			more := skew.Count{Rows: l.Own.Rows - p.own.Rows, Bytes: l.Own.Bytes - p.own.Bytes}
			p.reported = skew.Count{Rows: p.reported.Rows + more.Rows, Bytes: p.reported.Bytes + more.Bytes}
			r.reported = skew.Count{Rows: r.reported.Rows + more.Rows, Bytes: r.reported.Bytes + more.Bytes}
			top = append(top, shown{l, p.reported})
		}
		p.own = l.Own
	}
	maps.DeleteFunc(r.places, func(_ string, p *placed) bool { return p.look < r.looks })
	return top, skew.Count{Rows: other.Rows - r.reported.Rows, Bytes: other.Bytes - r.reported.Bytes}
}

// of returns the state of a place to which own was written so far.
func (r *ranking) of(name string, own skew.Count) *placed {
	if name == "" {
		return &placed{}
	}
	p := r.places[name]
	if p == nil {
		p = &placed{}
		r.places[name] = p
	}
	if own.Rows < p.own.Rows { // another place of the same name
		p.own = skew.Count{}
	}
	p.look = r.looks
	return p
}

// order returns the places, most written in the last hour first, and those without a name last.
func order(loads []skew.Load, places []*placed, k int) []int {
	order := make([]int, len(loads))
	weight := make([]float64, len(loads))
	for i := range loads {
		order[i] = i
		switch weight[i] = float64(loads[i].Hour.Rows); {
		case places[i].look == 0:
			weight[i] = -1
		case places[i].top:
			weight[i] = stays*weight[i] + 1
		}
	}
	if len(loads) > k {
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(loads[b].Total.Rows, loads[a].Total.Rows))
		})
	}
	return order
}

// deal returns the largest number of series per table for which all tables together have at most total, given that no table has more than
// it wants.
func deal(wants []int, total int) int {
	wants = slices.Sorted(slices.Values(wants))
	for i, want := range wants {
		if share := total / (len(wants) - i); want > share {
			return share
		}
		total -= want
	}
	if len(wants) == 0 {
		return 0
	}
	return wants[len(wants)-1]
}
