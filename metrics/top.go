package metrics

import (
	"cmp"
	"maps"
	"slices"

	"brine/skew"
)

// ranking deals out what the places of a table (regions, or salt buckets) were given to series: the places that are written most have
// one each, and one is for all the others.
//
// The invariant: no series ever goes down, and their sum is what the table was given. So what a place was given counts for the series that
// stands for it at the time of the scrape, and stays there when the place goes to another.
type ranking struct {
	places   map[string]*placed
	looks    int        // at them
	reported skew.Count // by series of their own, those that are gone included
}

type placed struct {
	look     int        // when it was there last
	own      skew.Count // when it was looked at last
	reported skew.Count // by its own series
	top      bool       // it has one
}

// shown is one series.
type shown struct {
	load     *skew.Load
	reported skew.Count
}

// stays is how much more than another a place must have been given to take its series: places that are nearly even do not change
// all the time.
const stays = 1.25

// update takes what the places were given by now, and returns the series of at most k of them, and that of the others. A place whose
// name is not known is one of the others.
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

// of returns what is known of a place, to which so much was given by now.
func (r *ranking) of(name string, own skew.Count) *placed {
	if name == "" {
		return &placed{}
	}
	p := r.places[name]
	if p == nil {
		p = &placed{}
		r.places[name] = p
	}
	if own.Rows < p.own.Rows { // another of the same name
		p.own = skew.Count{}
	}
	p.look = r.looks
	return p
}

// order returns the places, those first that were written most in the last hour, and those without a name last.
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

// deal returns the most series that a table may have so that all tables together, each with no more than it wants, have at most total.
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
