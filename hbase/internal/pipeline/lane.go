package pipeline

import (
	"bytes"
	"math"
	"slices"
	"time"

	"brine/hbase/internal/locate"
)

// entry is one mutation on its way: the index-th of its flight.
type entry struct {
	flight   *Flight
	index    int32
	attempts int16 // calls that it was part of and that count against its retries
	trials   int16 // calls that failed because of it or of another one: see isolation
}

const MaxRetries = 30000 // what an entry can count, with its trials

// tries is all calls that it was part of.
func (e entry) tries() int { return int(e.attempts) + int(e.trials) }

func (e entry) row() []byte   { return e.flight.batch.Row(e.position()) }
func (e entry) size() int     { return e.flight.batch.size(e.position()) }
func (e entry) cells() []byte { return e.flight.batch.cellsOf(e.position()) }

// lane is the queue of a key range that is, or was when last looked up, one region. The Writer's mutex guards it.
type lane struct {
	table      string
	start, end []byte
	region     *locate.Region // nil: to be located
	wide       bool           // its range has not been seen as one region, and may be many
	queue      fifo
	bytes      int           // of the queue and of the lane's own parts that are unanswered
	coming     int           // bytes, while a Submit sees whether its batch fits
	room       chan struct{} // closed when a Submit may look again whether the lane takes more; nil: nobody waits
	claims     []*Flight     // that wait for room here

	// unanswered are the parts of calls that must come back before this lane may send: its own, and those of lanes whose range it
	// took over. So two mutations of one row are never on their way together.
	unanswered []*part

	state  laneState
	holder *Mutator    // that makes it linger
	timer  *time.Timer // of its pause; nil unless it is paused

	failures  int   // since something was last applied
	why       error // the last of them
	failing   bool  // what is in its queue counts as pending: see pending.go
	limit     int   // mutations per call, after one was too big; 0: none
	isolation       // of a mutation that makes calls fail
	slow      bool  // its calls take far longer than its server's others
}

// laneState is what a lane does. Whether a call must be answered before it may send is beside that: see unanswered.
type laneState uint8

const (
	idle      laneState = iota // may be scheduled as soon as something is queued and nothing is unanswered
	lingering                  // its holder makes the queue wait for more: see linger.go
	locating                   // its region is being looked up: see locate.go
	ready                      // in its server's queue: see gather.go
	paused                     // waits after a failure: see requeue.go
	dead                       // others have taken over its range
)

// part is what one call carries of one lane.
type part struct {
	lane    *lane // that sent it; may be dead by the time of the answer
	region  *locate.Region
	entries []entry
	bytes   int
	failed  int       // the lane's failures when it sent
	search  isolation // the lane's when it sent
	heirs   []*lane   // that have it in their unanswered
}

// mayGo reports whether the lane has something to send, and nothing keeps it from being sent or located.
func (l *lane) mayGo() bool {
	return l.state == idle && l.queue.len() > 0 && len(l.unanswered) == 0
}

// leave ends a state, unless the lane is already in another one.
func (l *lane) leave(s laneState) {
	if l.state == s {
		l.state = idle
	}
}

// overlaps reports whether some row of the lane could lie in the region. A lane's range never changes.
func (l *lane) overlaps(r *locate.Region) bool {
	return locate.Before(l.start, r.End) && locate.Before(r.Start, l.end)
}

// alone reports whether the lane must not share a call with others: it fails, or holds them up.
func (l *lane) alone() bool { return l.failures > 0 || l.suspects > 0 || l.slow }

// push adds a mutation.
func (l *lane) push(e entry) {
	l.queue.push(e)
	l.bytes += e.size()
	if l.failing {
		e.flight.addPending(e.index)
	}
}

// take cuts off as much of the queue's front as fits, at least one mutation if first is set.
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

// maxRows is the lane's own bound of mutations per call.
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

// recover notes that something was applied: after a split the bound grows back as it shrank.
func (l *lane) recover() {
	l.failures, l.why = 0, nil
	l.unmarkFailing()
	if l.limit *= 2; l.limit > 1<<16 {
		l.limit = 0
	}
}

// bind makes a lane wait for the part's answer.
func (p *part) bind(l *lane) {
	p.heirs = append(p.heirs, l)
	l.unanswered = append(l.unanswered, p)
}

// unbind frees the lanes that waited for the part, since it is answered.
func (p *part) unbind() {
	for _, l := range p.heirs {
		l.unanswered = slices.DeleteFunc(l.unanswered, func(o *part) bool { return o == p })
	}
	if p.lane.state != dead {
		p.lane.bytes -= p.bytes
		p.lane.makeRoom()
	}
}

// pushFront puts entries back before everything that has queued meanwhile.
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
