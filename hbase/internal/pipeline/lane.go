package pipeline

import (
	"bytes"
	"math"
	"slices"
	"time"

	"brine/hbase/internal/locate"
)

// entry is one mutation on its way: mutation index of its flight.
type entry struct {
	flight   *Flight
	index    int32
	attempts int16 // number of its calls that count against its retries
	trials   int16 // number of calls that failed because of it or of another mutation: see isolation
}

const MaxRetries = 30000 // what an entry can count, its trials included

// tries returns the number of calls that e was part of.
func (e entry) tries() int { return int(e.attempts) + int(e.trials) }

func (e entry) row() []byte   { return e.flight.batch.Row(e.position()) }
func (e entry) size() int     { return e.flight.batch.size(e.position()) }
func (e entry) cells() []byte { return e.flight.batch.cellsOf(e.position()) }

// lane is the queue of a key range that is, or was at the last look-up, one region. The Writer's mutex guards it.
type lane struct {
	table      string
	start, end []byte
	region     *locate.Region // nil: unknown
	wide       bool           // the range was never seen as one region, and may be many
	queue      fifo
	bytes      int           // of the queue and of the lane's own unanswered parts
	coming     int           // bytes, while a Submit checks whether its batch fits
	room       chan struct{} // closed when a Submit may check for room again; nil: nobody waits
	claims     []*Flight     // flights that wait for room here

	// unanswered are the parts of calls that must come back before this lane may send: its own, and those of lanes whose range it took over.
	// So two mutations of one row are never in calls at the same time.
	unanswered []*part

	state  laneState
	holder *Mutator    // mutator that makes it linger
	timer  *time.Timer // of its pause; nil unless paused

	failures  int   // number since something was last applied
	why       error // the last failure
	failing   bool  // the mutations in its queue are pending: see pending.go
	limit     int   // mutations per call after a call was too big; 0: none
	isolation       // search for a mutation that makes calls fail
	slow      bool  // its calls take far longer than those of the server's other lanes
}

// laneState is what a lane is doing. Whether it must wait for a call's answer is independent of that: see unanswered.
type laneState uint8

const (
	idle      laneState = iota // may be scheduled as soon as something is queued and nothing is unanswered
	lingering                  // its holder makes the queue wait for more: see linger.go
	locating                   // its region is being looked up: see locate.go
	ready                      // in its server's queue: see gather.go
	paused                     // waiting after a failure: see requeue.go
	dead                       // other lanes have taken over its range
)

// part is what one call carries from one lane.
type part struct {
	lane    *lane // that sent it; may be dead when the answer arrives
	region  *locate.Region
	entries []entry
	bytes   int
	failed  int       // the lane's failures when it sent
	search  isolation // the lane's isolation when it sent
	heirs   []*lane   // lanes that have it in unanswered
}

// mayGo reports whether the lane has something to send and may be sent or located.
func (l *lane) mayGo() bool {
	return l.state == idle && l.queue.len() > 0 && len(l.unanswered) == 0
}

// leave ends state s; it does nothing if the lane is in another state.
func (l *lane) leave(s laneState) {
	if l.state == s {
		l.state = idle
	}
}

// overlaps reports whether the lane and the region can have a row in common. A lane's range never changes.
func (l *lane) overlaps(r *locate.Region) bool {
	return locate.Before(l.start, r.End) && locate.Before(r.Start, l.end)
}

// alone reports whether the lane must not share a call with others, because it fails or holds them up.
func (l *lane) alone() bool { return l.failures > 0 || l.suspects > 0 || l.slow }

// push adds a mutation to the queue.
func (l *lane) push(e entry) {
	l.queue.push(e)
	l.bytes += e.size()
	if l.failing {
		e.flight.addPending(e.index)
	}
}

// take cuts as much as fits off the front of the queue, and at least one mutation if first is set.
func (l *lane) take(p *part, rows, size int, first bool) bool {
	rows = min(rows, l.maxRows())
	n, bytes := 0, 0
	for n < l.queue.len() && n < rows {
		s := l.queue.at(n).size()
		if bytes+s > size && (n > 0 || !first) {
			break
		}
		bytes += s
		n++
	}
	if n == 0 {
		return false
	}
	p.lane, p.region, p.failed, p.search, p.bytes = l, l.region, l.failures, l.isolation, bytes
	p.entries = l.queue.cut(p.entries[:0], n)
	if l.failing {
		removePending(p.entries)
	}
	p.bind(l)
	return true
}

// maxRows returns the lane's own bound on mutations per call.
func (l *lane) maxRows() int {
	rows := math.MaxInt
	if l.limit > 0 {
		rows = l.limit
	}
	if l.suspects > 0 {
		rows = min(rows, (l.suspects+1)/2)
	}
	return rows
}

// recover records that something was applied. After a split, the bound grows back the way it shrank.
func (l *lane) recover() {
	l.failures, l.why = 0, nil
	l.unmarkFailing()
	if l.limit *= 2; l.limit > 1<<16 {
		l.limit = 0
	}
}

// bind makes lane l wait for the part's answer.
func (p *part) bind(l *lane) {
	p.heirs = append(p.heirs, l)
	l.unanswered = append(l.unanswered, p)
}

// unbind frees the lanes that waited for the part's answer.
func (p *part) unbind() {
	for _, l := range p.heirs {
		l.unanswered = slices.DeleteFunc(l.unanswered, func(o *part) bool { return o == p })
	}
	if p.lane.state != dead {
		p.lane.bytes -= p.bytes
		p.lane.makeRoom()
	}
}

// pushFront puts entries back in front of everything queued meanwhile.
func (l *lane) pushFront(es []entry) {
	l.queue.pushFront(es)
	for _, e := range es {
		l.bytes += e.size()
		if l.failing {
			e.flight.addPending(e.index)
		}
	}
}

// makeRoom wakes callers that wait for room.
func (l *lane) makeRoom() {
	if l.room != nil {
		close(l.room)
		l.room = nil
	}
}

// endPause makes a paused lane idle.
func (l *lane) endPause() {
	if l.state == paused {
		l.timer.Stop()
		l.timer, l.state = nil, idle
	}
}

// lanes are the lanes of one table.
//
// Invariant: in key order, they cover every key exactly once. A table starts as one lane without a region; each region found is carved out
// of the lanes that it overlaps.
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

// ahead is the number of following lanes that are looked up together with one.
const ahead = 100

// lostBehind returns the start of the last following lane that has something to send and must be located too, and its distance in lanes;
// nil and 0 if there is none.
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

// carve makes a lane for a region's range and returns the new lanes. If the region is on no server, its lane must be located again. Queues
// are dealt out in order, and unanswered parts of the old lanes hold up every lane that took over part of their range. Lingering mutations
// are sent.
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

// inherit deals a dead lane's queue and unanswered parts out to the lanes that took over its range.
func inherit(fresh []*lane, o *lane) {
	for _, l := range fresh {
		if !locate.Before(l.start, o.end) || !locate.Before(o.start, l.end) {
			continue // no key in common
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
