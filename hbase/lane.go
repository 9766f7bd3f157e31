package hbase

import (
	"math"
	"slices"
	"time"
)

// entry is one mutation on its way: the index-th of its flight.
type entry struct {
	flight   *Flight
	index    int32
	attempts int16 // calls that it was part of and that count against its retries
	trials   int16 // calls that failed because of it or of another one: see isolation
}

const maxRetries = 30000 // what an entry can count, with its trials

// tries is all calls that it was part of.
func (e entry) tries() int { return int(e.attempts) + int(e.trials) }

func (e entry) row() []byte   { return e.flight.batch.Row(e.place()) }
func (e entry) size() int     { return e.flight.batch.size(e.place()) }
func (e entry) cells() []byte { return e.flight.batch.cellsOf(e.place()) }

// lane is the queue of a key range that is, or was when last looked up, one region. The writer's mutex guards it.
type lane struct {
	table      string
	start, end []byte
	region     *Region // nil: to be located
	wide       bool    // its range has not been seen as one region, and may be many
	queue      fifo
	bytes      int           // of the queue and of the lane's own parts that are out
	coming     int           // bytes, while a Submit sees whether its batch fits
	room       chan struct{} // closed when a Submit may look again whether the lane takes more; nil: nobody waits
	claims     []*Flight     // that wait for room here

	// out are the parts of calls that must come back before this lane may send: its own, and those of lanes whose range it
	// took over. So two mutations of one row are never on their way together.
	out []*part

	holder *Mutator // that lets all of the queue wait; nil: it may be sent

	failures  int         // since something was last applied
	why       error       // the last of them
	ill       bool        // it fails, and what is in its queue counts as stuck: see ease.go
	limit     int         // mutations per call, after one was too big; 0: none
	isolation             // of a mutation that makes calls fail
	slow      bool        // its calls take far longer than its server's others
	timer     *time.Timer // set while it waits out a pause
	locating  bool
	ready     bool // in its server's line
	dead      bool // others have taken over its range
}

// part is what one call carries of one lane.
type part struct {
	lane    *lane // that sent it; may be dead by the time of the answer
	region  *Region
	entries []entry
	bytes   int
	failed  int       // the lane's failures when it sent
	search  isolation // the lane's when it sent
	heirs   []*lane   // that have it in their out
}

// idle reports whether the lane is free to send or to be located.
func (l *lane) idle() bool {
	return l.queue.len() > 0 && l.holder == nil && len(l.out) == 0 && l.timer == nil && !l.locating && !l.ready && !l.dead
}

// overlaps reports whether some row of the lane could lie in the region. A lane's range never changes.
func (l *lane) overlaps(r *Region) bool { return before(l.start, r.End) && before(r.Start, l.end) }

// alone reports whether the lane must not share a call with others: it fails, or holds them up.
func (l *lane) alone() bool { return l.failures > 0 || l.suspects > 0 || l.slow }

// push adds a mutation.
func (l *lane) push(e entry) {
	l.queue.push(e)
	l.bytes += e.size()
	if l.ill {
		e.flight.stick(e.index)
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
	if l.ill {
		unstick(p.entries)
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
	l.heal()
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
	if !p.lane.dead {
		p.lane.bytes -= p.bytes
		p.lane.makeRoom()
	}
}

// pushFront puts entries back before everything that has queued meanwhile.
func (l *lane) pushFront(es []entry) {
	l.queue.pushFront(es)
	for _, e := range es {
		l.bytes += e.size()
		if l.ill {
			e.flight.stick(e.index)
		}
	}
}

// makeRoom lets those who wait for room look again.
func (l *lane) makeRoom() {
	if l.room != nil {
		close(l.room)
		l.room = nil
	}
}

func (l *lane) stopTimer() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}
