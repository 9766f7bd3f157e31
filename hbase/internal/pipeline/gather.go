package pipeline

import (
	"context"
	"slices"
	"time"
)

// serverQueue holds a server's lanes that are ready to send, in the order in which they became ready.
type serverQueue struct {
	addr         string
	shared       turns
	alone        turns // lanes that must ride alone
	pace         pace
	overdueTimer *time.Timer // dispatches again when a call may have become overdue; nil until first needed
	watcher      *time.Timer // checks the unanswered calls: see watch.go
	watched      bool        // watcher is set
}

// turns are a server's lanes that wait for a call, and its unanswered calls.
type turns struct {
	ready      []*lane
	unanswered []*multi
	lanesOut   int // number of lanes in the unanswered calls
}

// schedule starts lanes that have something to send and nothing to wait for: located ones join their server's queue, others are looked up.
// Then it dispatches calls to the servers whose queues grew. The caller holds w.mu.
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

// dispatch sends calls to a server while the server may have more and there is something to send. The caller holds w.mu.
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

// gather takes the mutations of the next call from the front of a queue. A lane that must ride alone gets its own call; otherwise the call
// takes at most a quarter of the busy lanes, so that no call makes all of them wait. The caller holds w.mu.
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
				break // it is first in the next call
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

// full reports whether no more calls may be sent. A call that is unanswered for far longer than the others does not count, so that they do
// not wait for it. At most MaxServerCalls calls are exempt in this way.
func (w *Writer) full(s *serverQueue, q *turns, now time.Time) bool {
	most := w.opts.MaxServerCalls
	if q == &s.shared && len(q.unanswered) >= most {
		limit := s.pace.overdue()
		for _, m := range q.unanswered[:w.opts.MaxServerCalls] {
			if now.Sub(m.left) >= limit {
				most++
			}
		}
	}
	return len(q.unanswered) >= most
}

// awaitOverdue dispatches again when the oldest unanswered call becomes overdue and so makes room. The caller holds w.mu.
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
		return // unanswered is in the order of sending
	}
}
