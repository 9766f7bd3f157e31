package pipeline

import (
	"bytes"
	"context"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
)

// requeue returns the mutations that were not applied to the front of their lanes, applies the remedy to these lanes, and frees the lanes
// that waited for the answer. It returns what a closed client cannot take back. The caller holds w.mu.
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

// applyRemedy applies the remedy to a lane that n mutations have returned to. The caller holds w.mu.
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

// isolation is a lane's search for the mutation that makes its calls fail, for when the answer does not identify it: the server refuses all
// mutations of a call with a single exception, or ends the connection instead of answering. The lane sends half of the suspects, then half
// of those that are left, until one mutation is alone in its call: if that call fails, the mutation is at fault. All others are written on
// the way, n of them with about log2 n failing calls.
//
// While nothing at all is accepted, the mutations after the guilty one go one by one: a table that refuses everything then shows that after
// each mutation, not after each search.
type isolation struct {
	suspects int  // number of mutations at the queue's front, one of which is at fault; 0: no search
	spared   bool // something was applied since the search began
	cuts     int  // consecutive calls that ended with the connection instead of an answer
}

// cutsBefore is the number of calls of a lane alone that must end with the connection before its mutations are suspected: a single one may
// be due to the server itself.
const cutsBefore = 2

// suspect starts a search among n mutations, or narrows it down to them.
func (s *isolation) suspect(n int) {
	if s.suspects == 0 {
		s.spared = false
	}
	s.suspects, s.cuts = n, 0
}

// resolved records that mutations at the front have their results.
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

// lookAfter is how long a paused lane waits before it checks whether its region is back, and between further checks. HBase's pauses grow to
// 20 s, and most regions of a server that died are open elsewhere long before.
const lookAfter = time.Second

// pause makes a lane wait. If failed, the region that failed, is not nil, the wait ends early when hbase:meta shows another opening of it.
// Looking is not a try: it sends no mutation and does not count against any retries. The caller holds w.mu.
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

// checkReopened ends a lane's pause if its region has been opened again; otherwise the rest of the pause continues. Meanwhile the lane's
// timer stays t, which has expired: only stopping that timer frees the lane.
func (w *Writer) checkReopened(l *lane, t *time.Timer, left time.Duration, failed *locate.Region, row []byte) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(w.env.Ctx, left)
	defer cancel()
	r, err := w.env.Find(ctx, l.table, row)
	back := err == nil && r.NewerThan(failed)
	if err == nil && !back {
		w.env.Forget(r) // otherwise the next look would find it in the cache
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
