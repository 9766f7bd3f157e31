package hbase

import (
	"bytes"
	"math"
	"slices"
	"time"
)

// entry is one mutation on its way: the index-th of its flight.
type entry struct {
	flight   *Flight
	index    int32
	attempts int32 // calls that it was part of, without the uncounted ones
}

func (e entry) row() []byte { return e.flight.batch.Row(int(e.index)) }
func (e entry) size() int   { return e.flight.batch.size(int(e.index)) }

// lane is the queue of a key range that is, or was when last looked up, one region. The writer's mutex guards it.
type lane struct {
	table      string
	start, end []byte
	region     *Region // nil: to be located
	queue      []entry

	// out are the parts of calls that must come back before this lane may send: its own, and those of lanes whose range it
	// took over. So two mutations of one row are never on their way together.
	out []*part

	holder *Mutator // that lets all of the queue wait; nil: it may be sent

	failures int         // since something was last applied
	limit    int         // mutations per call, after one was too big; 0: none
	timer    *time.Timer // set while it waits out a pause
	locating bool
	ready    bool // in its server's line
	dead     bool // others have taken over its range
}

// part is what one call carries of one lane.
type part struct {
	lane    *lane // that sent it; may be dead by the time of the answer
	region  *Region
	entries []entry
	bytes   int
	failed  int     // the lane's failures when it sent
	heirs   []*lane // that have it in their out
}

// idle tells whether the lane is free to send or to be located.
func (l *lane) idle() bool {
	return len(l.queue) > 0 && l.holder == nil && len(l.out) == 0 && l.timer == nil && !l.locating && !l.ready && !l.dead
}

// take cuts off as much of the queue's front as fits, at least one mutation if first is set.
func (l *lane) take(rows, size int, first bool) *part {
	p := &part{lane: l, region: l.region, failed: l.failures}
	n := 0
	for n < len(l.queue) && n < rows {
		s := l.queue[n].size()
		if p.bytes+s > size && (n > 0 || !first) {
			break
		}
		p.bytes += s
		n++
	}
	if n == 0 {
		return nil
	}
	p.entries = l.queue[:n:n]
	l.queue = l.queue[n:]
	p.bind(l)
	return p
}

// maxRows is the lane's own bound of mutations per call.
func (l *lane) maxRows() int {
	if l.limit == 0 {
		return math.MaxInt
	}
	return l.limit
}

// recover notes that something was applied: after a split the bound grows back as it shrank.
func (l *lane) recover() {
	l.failures = 0
	if l.limit *= 2; l.limit > 1<<16 {
		l.limit = 0
	}
}

// bind makes a lane wait for the part's answer.
func (p *part) bind(l *lane) {
	p.heirs = append(p.heirs, l)
	l.out = append(l.out, p)
}

// release frees the lanes that waited for the part, since it is answered.
func (p *part) release() {
	for _, l := range p.heirs {
		l.out = slices.DeleteFunc(l.out, func(o *part) bool { return o == p })
	}
}

// pushFront puts entries back before everything that has queued meanwhile.
func (l *lane) pushFront(es []entry) { l.queue = slices.Concat(es, l.queue) }

func (l *lane) stopTimer() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// lanes are those of one table.
//
// Invariant: in key order they cover every key exactly once. A table begins as one lane without a region; each region that
// is found is carved out of the lanes that it overlaps.
type lanes struct{ all []*lane }

func newLanes(table string) *lanes { return &lanes{all: []*lane{{table: table}}} }

// of gives the lane of a row.
func (ls *lanes) of(row []byte) *lane {
	i, found := slices.BinarySearchFunc(ls.all, row, func(l *lane, row []byte) int { return bytes.Compare(l.start, row) })
	if !found {
		i--
	}
	return ls.all[i]
}

// carve gives a region's range a lane of its own, and tells which lanes are new. Queues are dealt out in order, and
// whatever was out of the old lanes holds back every lane that took over a part of their range. What a mutator held back is
// let go.
func (ls *lanes) carve(r *Region) (fresh []*lane) {
	from := slices.IndexFunc(ls.all, func(l *lane) bool { return before(r.Start, l.end) })
	to := from
	for to < len(ls.all) && before(ls.all[to].start, r.End) {
		to++
	}
	old := slices.Clone(ls.all[from:to])
	if len(old) == 1 && bytes.Equal(old[0].start, r.Start) && bytes.Equal(old[0].end, r.End) {
		old[0].region = r
		return nil
	}
	first, last := old[0], old[len(old)-1]
	if bytes.Compare(first.start, r.Start) < 0 {
		fresh = append(fresh, &lane{table: r.Table, start: first.start, end: r.Start})
	}
	fresh = append(fresh, &lane{table: r.Table, start: r.Start, end: r.End, region: r})
	if len(r.End) > 0 && before(r.End, last.end) {
		fresh = append(fresh, &lane{table: r.Table, start: r.End, end: last.end})
	}
	for _, o := range old {
		o.dead = true
		o.stopTimer()
		inherit(fresh, o)
	}
	ls.all = slices.Replace(ls.all, from, to, fresh...)
	return fresh
}

// inherit deals a dead lane's queue and outstanding parts out to those that took over its range.
func inherit(fresh []*lane, o *lane) {
	for _, l := range fresh {
		if !before(l.start, o.end) || !before(o.start, l.end) {
			continue // they share no key
		}
		l.failures = max(l.failures, o.failures)
		for _, p := range o.out {
			if !slices.Contains(l.out, p) {
				p.bind(l)
			}
		}
		for _, e := range o.queue {
			if row := e.row(); bytes.Compare(l.start, row) <= 0 && before(row, l.end) {
				l.queue = append(l.queue, e)
			}
		}
	}
	o.queue = nil
}
