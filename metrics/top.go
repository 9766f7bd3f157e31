package metrics

import (
	"cmp"
	"slices"

	"brine/skew"
)

// ranking deals out what the places of a table (regions, or salt buckets) were given to series: the places that are written most have
// one each, and one is for all the others.
//
// The invariant: no series ever goes down, and their sum is what the table was given. So what a place was given counts for the series that
// stands for it at the time of the scrape, and stays there when the place goes to another.
type ranking struct {
	places map[string]placed
	told   skew.Count // by series of their own, those that are gone included
}

type placed struct {
	own  skew.Count // when it was looked at last
	told skew.Count // by its own series
	top  bool       // it has one
}

// shown is one series.
type shown struct {
	load skew.Load
	told skew.Count
}

// stays is how much more than another a place must have been given to take its series: places that are nearly even do not change
// all the time.
const stays = 1.25

// update takes what the places were given by now, and gives the series of at most k of them, and that of the others. A place whose name is not
// known is one of the others.
func (r *ranking) update(loads []skew.Load, name func(*skew.Load) string, k int) (top []shown, other skew.Count) {
	before := r.places
	r.places = make(map[string]placed, len(loads))
	for rank, i := range r.order(loads, name, before, k) {
		l := &loads[i]
		at := name(l)
		p := before[at]
		if l.Own.Rows < p.own.Rows { // another of the same name
			p.own = skew.Count{}
		}
		if p.top = rank < k && at != ""; p.top {
			p.told.Rows += l.Own.Rows - p.own.Rows
			p.told.Bytes += l.Own.Bytes - p.own.Bytes
			r.told.Rows += l.Own.Rows - p.own.Rows
			r.told.Bytes += l.Own.Bytes - p.own.Bytes
			top = append(top, shown{*l, p.told})
		}
		if p.own = l.Own; at != "" {
			r.places[at] = p
		}
		other.Rows += l.Total.Rows
		other.Bytes += l.Total.Bytes
	}
	return top, skew.Count{Rows: other.Rows - r.told.Rows, Bytes: other.Bytes - r.told.Bytes}
}

// order gives the places, those first that were written most in the last hour.
func (r *ranking) order(loads []skew.Load, name func(*skew.Load) string, before map[string]placed, k int) []int {
	order := make([]int, len(loads))
	weight := make([]float64, len(loads))
	for i := range loads {
		order[i] = i
		weight[i] = float64(loads[i].Hour.Rows)
		if name(&loads[i]) == "" {
			weight[i] = -1
		} else if len(loads) > k && before[name(&loads[i])].top {
			weight[i] = stays*weight[i] + 1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(loads[b].Total.Rows, loads[a].Total.Rows))
	})
	return order
}

// deal gives the most series that a table may have so that all tables together, each with no more than it wants, have at most total.
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
