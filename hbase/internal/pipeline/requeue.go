package pipeline

import (
	"bytes"
	"context"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
)

// requeue returns what was not applied to the front of its lanes, which wait and are looked up as the remedy demands, and
// frees the lanes that waited for the answer. w.mu is held. It returns what a closed client cannot take back.
func (w *Writer) requeue(o *outcome) (lost []entry) {
	p := o.part
	p.unbind()
	if w.closed {
		return o.back
	}
	if p.lane.state != dead {
		p.lane.resolved(len(o.applied), len(o.refused))
	}
	if len(o.back) == 0 {
		if len(o.applied) > 0 && p.lane.state != dead {
			p.lane.recover()
		}
		w.schedule(p.heirs...)
		return nil
	}
	ls := w.tables[p.lane.table]
	byLane := make(map[*lane][]entry)
	for _, e := range o.back {
		l := p.lane
		if l.state == dead {
			l = ls.of(e.row())
		}
		byLane[l] = append(byLane[l], e)
	}
	for l, es := range byLane {
		l.pushFront(es)
		l.leave(lingering)
		w.applyRemedy(l, o, len(es))
		if l.failures >= failingFrom {
			w.markFailing(l, es)
		}
	}
	w.schedule(p.heirs...)
	return nil
}

// applyRemedy applies the remedy to a lane that n mutations go back to. w.mu is held.
func (w *Writer) applyRemedy(l *lane, o *outcome, n int) {
	l.why = o.cause
	if !o.cure.Uncounted {
		l.failures++
	}
	if o.cure.Cut {
		l.cuts++
	}
	if o.search {
		l.suspect(n)
	}
	switch o.cure.Remedy {
	case remote.Relocate, remote.Reconnect:
		if l.region == o.part.region {
			l.region = o.moved
		}
	case remote.Split:
		l.limit = max(1, len(o.part.entries)/2)
	}
	if o.pause <= 0 {
		w.schedule(l)
		return
	}
	failed := o.part.region
	if l.region != nil || o.cure.Remedy != remote.Relocate && o.cure.Remedy != remote.Reconnect {
		failed = nil
	}
	w.pause(l, o.pause, failed)
}

// isolation is a lane's search for the mutation that makes its calls fail, when the answer does not say which it is: the
// server refuses all mutations of a call with one bare exception, or ends the connection instead of an answer. Half of the
// suspects is sent, then half of those that are left, until one mutation is alone in its call: what fails then is its own
// fault. All others are written on the way, n of them with about log2 n failing calls.
//
// While nothing at all is taken, the mutations behind the guilty one go one by one: a table that refuses everything shows
// after each mutation, not after each search.
type isolation struct {
	suspects int  // this many at the queue's front, one of which is at fault; 0: no search
	spared   bool // something was applied since the search began
	cuts     int  // calls in a row that had the connection's end as their answer
}

// cutsBefore is how many calls of a lane alone must end with the connection before the lane's mutations are suspected:
// one may always be the server's own end.
const cutsBefore = 2

// suspect narrows the search down to n mutations, or begins one.
func (s *isolation) suspect(n int) {
	if s.suspects == 0 {
		s.spared = false
	}
	s.suspects, s.cuts = n, 0
}

// resolved notes that n mutations at the front have their results.
func (s *isolation) resolved(applied, refused int) {
	if applied > 0 {
		s.spared, s.cuts = true, 0
	}
	if s.suspects == 0 {
		return
	}
	s.suspects = max(0, s.suspects-applied-refused)
	if s.suspects == 0 && refused > 0 && !s.spared {
		s.suspects = 1
	}
}

// lookAfter is how long a lane waits before it looks whether its region is back, and again before it looks the next time. HBase's
// pauses grow to 20 s, and most regions of a server that died are open elsewhere long before.
const lookAfter = time.Second

// pause lets a lane wait: for the pause, or, when the region that failed is given, only until hbase:meta shows another opening of it.
// Looking is not a try: it sends no mutation and counts against no retries. w.mu is held.
func (w *Writer) pause(l *lane, pause time.Duration, failed *locate.Region) {
	l.endPause()
	slice := pause
	if failed != nil {
		slice = min(pause, lookAfter)
	}
	var t *time.Timer
	t = time.AfterFunc(slice, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch {
		case l.timer != t || w.closed:
		case slice == pause || l.queue.len() == 0:
			l.endPause()
			w.schedule(l)
		default:
			row := bytes.Clone(l.queue.at(0).row()) // its flight may stall meanwhile
			w.env.Go(func() { w.checkReopened(l, t, pause-slice, failed, row) })
		}
	})
	l.timer, l.state = t, paused
}

// checkReopened ends a lane's pause when its region has been opened again; else what is left of the pause goes on. Meanwhile the lane's
// timer stays t, which has run out: only stopping that timer frees the lane.
func (w *Writer) checkReopened(l *lane, t *time.Timer, left time.Duration, failed *locate.Region, row []byte) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(w.env.Ctx, left)
	defer cancel()
	r, err := w.env.Find(ctx, l.table, row)
	back := err == nil && r.NewerThan(failed)
	if err == nil && !back {
		w.env.Forget(r) // or the next look would find it there
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.timer != t || w.closed {
		return
	}
	if left -= time.Since(began); back || left <= 0 {
		l.endPause()
		w.schedule(l)
		return
	}
	w.pause(l, left, failed)
}

// hurry ends the pauses of all lanes.
func (w *Writer) hurry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ls := range w.tables {
		for _, l := range ls.all {
			if l.state == paused {
				l.endPause()
				w.schedule(l)
			}
		}
	}
}
