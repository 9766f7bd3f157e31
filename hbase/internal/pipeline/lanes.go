package pipeline

import (
	"bytes"
	"slices"

	"brine/hbase/internal/locate"
)

// lanes are those of one table.
//
// Invariant: in key order they cover every key exactly once. A table begins as one lane without a region; each region that
// is found is carved out of the lanes that it overlaps.
type lanes struct{ all []*lane }

func newLanes(table string) *lanes { return &lanes{all: []*lane{{table: table, wide: true}}} }

func byLaneStart(l *lane, row []byte) int { return bytes.Compare(l.start, row) }

// of returns the lane of a row.
func (ls *lanes) of(row []byte) *lane {
	i, found := slices.BinarySearchFunc(ls.all, row, byLaneStart)
	if !found {
		i--
	}
	return ls.all[i]
}

// ahead is how many lanes behind one that is located are looked up with it.
const ahead = 100

// lostBehind returns where the last of the lanes that follow begins that has something to send and is to be located too, and how
// many lanes it is away; nil and 0 if there is none.
func (ls *lanes) lostBehind(l *lane) (start []byte, away int) {
	i, _ := slices.BinarySearchFunc(ls.all, l.start, byLaneStart)
	next := ls.all[i+1:]
	for k, o := range next[:min(len(next), ahead)] {
		if o.region == nil && o.queue.len() > 0 {
			start, away = o.start, k+1
		}
	}
	return start, away
}

// carve makes a lane for a region's range, to be located again if the region is on no server, and returns the lanes that are
// new. Queues are dealt out in order, and unanswered parts of the old lanes hold up every lane that took over a part of their
// range. What lingered is sent.
func (ls *lanes) carve(r *locate.Region) (fresh []*lane) {
	from := slices.IndexFunc(ls.all, func(l *lane) bool { return locate.Before(r.Start, l.end) })
	to := from
	for to < len(ls.all) && locate.Before(ls.all[to].start, r.End) {
		to++
	}
	old := slices.Clone(ls.all[from:to])
	at := r
	if r.Server == "" {
		at = nil
	}
	if len(old) == 1 && bytes.Equal(old[0].start, r.Start) && bytes.Equal(old[0].end, r.End) {
		old[0].region, old[0].wide = at, false
		return nil
	}
	first, last := old[0], old[len(old)-1]
	if bytes.Compare(first.start, r.Start) < 0 {
		fresh = append(fresh, &lane{table: r.Table, start: first.start, end: r.Start, wide: first.wide})
	}
	fresh = append(fresh, &lane{table: r.Table, start: r.Start, end: r.End, region: at})
	if len(r.End) > 0 && locate.Before(r.End, last.end) {
		fresh = append(fresh, &lane{table: r.Table, start: r.End, end: last.end, wide: last.wide})
	}
	for _, o := range old {
		o.endPause()
		o.state = dead
		o.unmarkFailing()
		inherit(fresh, o)
		o.makeRoom()
	}
	ls.all = slices.Replace(ls.all, from, to, fresh...)
	return fresh
}

// inherit deals a dead lane's queue and outstanding parts out to those that took over its range.
func inherit(fresh []*lane, o *lane) {
	for _, l := range fresh {
		if !locate.Before(l.start, o.end) || !locate.Before(o.start, l.end) {
			continue // they share no key
		}
		l.failures, l.slow = max(l.failures, o.failures), l.slow || o.slow
		for _, p := range o.unanswered {
			if !slices.Contains(l.unanswered, p) {
				p.bind(l)
			}
		}
		for _, e := range o.queue.items() {
			if row := e.row(); bytes.Compare(l.start, row) <= 0 && locate.Before(row, l.end) {
				l.push(e)
			}
		}
	}
	o.queue = fifo{}
}
