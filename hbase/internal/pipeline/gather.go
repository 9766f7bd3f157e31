package pipeline

import (
	"context"
	"slices"
	"time"
)

// serverQueue is a server's lanes that are ready to send, in the order in which they became so.
type serverQueue struct {
	addr         string
	shared       turns
	alone        turns // lanes that must ride alone
	pace         pace
	overdueTimer *time.Timer // begins again when a call may have become overdue; nil until one was waited for
	watcher      *time.Timer // looks after the calls that are unanswered: see watch.go
	watched      bool        // it is set
}

// turns is the lanes of a server that wait for a call, and the calls that are unanswered.
type turns struct {
	ready      []*lane
	unanswered []*multi
	lanesOut   int // in the unanswered calls
}

// schedule starts lanes that have something to send and nothing to wait for: located ones join their server's queue,
// others are looked up. Then calls to the servers of those that joined are dispatched. w.mu is held.
func (w *Writer) schedule(ls ...*lane) {
	if w.closed {
		return
	}
	var begin []*serverQueue
	for _, l := range ls {
		switch {
		case !l.mayGo():
		case l.region == nil:
			l.state = locating
			w.env.Go(func() { w.locate(l) })
		default:
			s := w.serverOf(l.region.Server)
			l.state = ready
			q := s.turnsOf(l)
			q.ready = append(q.ready, l)
			begin = append(begin, s)
		}
	}
	for _, s := range begin {
		w.dispatch(s)
	}
}

func (w *Writer) serverOf(addr string) *serverQueue {
	s := w.servers[addr]
	if s == nil {
		s = &serverQueue{addr: addr}
		w.servers[addr] = s
	}
	return s
}

func (s *serverQueue) turnsOf(l *lane) *turns {
	if l.alone() {
		return &s.alone
	}
	return &s.shared
}

// dispatch sends calls to a server while it may have more and there is something to send. w.mu is held.
func (w *Writer) dispatch(s *serverQueue) {
	now := time.Now()
	for _, q := range []*turns{&s.shared, &s.alone} {
		for m := w.gather(s, q, now); m != nil; m = w.gather(s, q, now) {
			w.env.Go(func() { w.send(m) })
		}
	}
	if len(s.shared.ready) > 0 {
		w.awaitOverdue(s, now)
	}
	w.watch(s)
}

// gather takes the next call's mutations from the front of a queue: of a lane that must ride alone only its own, else of at
// most a quarter of the lanes that are busy, so that no call waits for all of them. w.mu is held.
func (w *Writer) gather(s *serverQueue, q *turns, now time.Time) *multi {
	if len(q.ready) == 0 || w.full(s, q, now) {
		return nil
	}
	lanes := 1
	if q == &s.shared {
		lanes = (len(q.ready) + q.lanesOut + 3) / 4
	}
	m := newMulti(s, q, now)
	rows, size := w.opts.MaxRequestRows, w.opts.MaxRequestBytes
	seen := 0
	for _, l := range q.ready {
		if len(m.parts) == lanes {
			break
		}
		if l.state != dead {
			p := m.part()
			if !l.take(p, rows, size, len(m.parts) == 0) {
				break // first in the next call
			}
			m.parts = append(m.parts, p)
			rows, size = rows-len(p.entries), size-p.bytes
		}
		l.leave(ready)
		seen++
	}
	q.ready = slices.Delete(q.ready, 0, seen)
	if len(m.parts) == 0 {
		m.recycle()
		return nil
	}
	q.unanswered = append(q.unanswered, m)
	m.ctx, m.giveUp = context.WithCancelCause(w.env.Ctx)
	m.nth = len(s.shared.unanswered) + len(s.alone.unanswered)
	q.lanesOut += len(m.parts)
	return m
}

// full reports whether no more calls may be sent. A call unanswered for far longer than the others does not count, so that they do
// not wait for it; but at most as many again.
func (w *Writer) full(s *serverQueue, q *turns, now time.Time) bool {
	most := w.opts.MaxServerCalls
	if q == &s.shared && len(q.unanswered) >= most {
		limit := s.pace.overdue()
		for _, m := range q.unanswered[:min(len(q.unanswered), w.opts.MaxServerCalls)] {
			if now.Sub(m.left) >= limit {
				most++
			}
		}
	}
	return len(q.unanswered) >= most
}

// awaitOverdue dispatches again when the oldest unanswered call becomes overdue and so makes room. w.mu is held.
func (w *Writer) awaitOverdue(s *serverQueue, now time.Time) {
	limit := s.pace.overdue()
	for _, m := range s.shared.unanswered {
		age := now.Sub(m.left)
		if age >= limit {
			continue
		}
		if s.overdueTimer == nil {
			s.overdueTimer = time.AfterFunc(limit-age, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				if !w.closed {
					w.dispatch(s)
				}
			})
		} else {
			s.overdueTimer.Reset(limit - age)
		}
		return // in the order in which they were sent
	}
}
