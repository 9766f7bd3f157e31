package hbase

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// writer takes mutations from Submit to their results:
//
//	Submit → lane of the region → (located) → line of the server → call → results
//	              ↑ back in order, after the remedy ────────────────┘
//
// While a server's calls are out its lanes gather; the next call takes what has come together (group commit). A lane is in at
// most one call. A lane that failed waits by itself and then rides alone, in a call that does not count against the others';
// so does one whose calls take far longer. A call that is out for far longer makes room for another.
// A lane that a Mutator without autoflush holds back stays out of line until it is let go (hold.go).
type writer struct {
	c        *Client
	budget   *semaphore.Weighted // MaxBufferedBytes
	buffered atomic.Int64

	mu      sync.Mutex // guards all below, and all lanes
	tables  map[string]*lanes
	servers map[string]*line
	holding map[*Mutator]struct{} // mutators that hold something back
	blocked int                   // Submits that wait for room: meanwhile nothing is held back
	turns   int                   // that have been given to flights
	touched []*lane               // by the Submit that has the mutex
	closed  bool
}

// line is a server's lanes that are ready to send, in the order in which they became so.
type line struct {
	addr    string
	healthy queue
	sick    queue // lanes that must ride alone
	pace    pace
	wait    *time.Timer // begins again when a call may have become overdue; nil until one was waited for
	watcher *time.Timer // looks after the calls that are out: see gone.go
	watched bool        // it is set
}

// queue is lanes in line, and what of them is out.
type queue struct {
	ready []*lane
	out   []*multi
	lanes int // in the calls that are out
}

func newWriter(c *Client) *writer {
	return &writer{
		c: c, budget: semaphore.NewWeighted(int64(c.opts.MaxBufferedBytes)),
		tables: make(map[string]*lanes), servers: make(map[string]*line), holding: make(map[*Mutator]struct{}),
	}
}

// Submit is Mutator.Submit with autoflush, and with the client's retries and pause.
func (c *Client) Submit(ctx context.Context, b *Batch) *Flight { return c.auto.Submit(ctx, b) }

// check sorts out the mutations that can never be written: the good ones are appended to dst.
func (w *writer) check(dst []entry, f *Flight) (good []entry, bad []MutationError) {
	for i := range f.batch.Len() {
		if err := f.batch.check(i, w.c.opts.MaxCellBytes); err != nil {
			bad = append(bad, MutationError{Index: i, Kind: BadRow, Err: err})
			continue
		}
		dst = append(dst, entry{flight: f, index: int32(i)})
	}
	return dst, bad
}

// failures are those of mutations whose last error is not the server's.
func failures(es []entry, err error) []MutationError {
	errs := make([]MutationError, len(es))
	for i, e := range es {
		kind := Transient
		if errors.Is(err, ErrClosed) && e.attempts == 0 {
			kind = Closed
		}
		errs[i] = MutationError{Index: int(e.index), Kind: kind, Attempts: e.tries(), Err: err}
	}
	return errs
}

// settle gives mutations of one flight their results: those in errs have failed, the others are durable. Their bytes return
// to the bound.
func (w *writer) settle(es []entry, errs ...MutationError) {
	if len(es) == 0 {
		return
	}
	size := 0
	for _, e := range es {
		size += e.size()
	}
	f := es[0].flight
	w.account(-size) // first, so that the count never shows more than the bound
	w.budget.Release(int64(f.weigh(size)))
	f.settle(len(es), errs...)
	if f.sick.Load() {
		w.mu.Lock()
		w.ease(f)
		w.mu.Unlock()
	}
}

func (w *writer) account(delta int) {
	n := w.buffered.Add(int64(delta))
	if hook := w.c.opts.Hooks.Buffered; hook != nil && delta != 0 {
		hook(int(n))
	}
}

// wake gets lanes going that have something to send and nothing that holds them back: located ones join their server's line,
// others are looked up. Then the servers of those that joined begin. w.mu is held.
func (w *writer) wake(ls ...*lane) {
	if w.closed {
		return
	}
	var begin []*line
	for _, l := range ls {
		switch {
		case !l.idle():
		case l.region == nil:
			l.locating = true
			w.c.wg.Go(func() { w.locate(l) })
		default:
			s := w.lineOf(l.region.Server)
			l.ready = true
			q := s.queueOf(l)
			q.ready = append(q.ready, l)
			begin = append(begin, s)
		}
	}
	for _, s := range begin {
		w.begin(s)
	}
}

func (w *writer) lineOf(addr string) *line {
	s := w.servers[addr]
	if s == nil {
		s = &line{addr: addr}
		w.servers[addr] = s
	}
	return s
}

func (s *line) queueOf(l *lane) *queue {
	if l.alone() {
		return &s.sick
	}
	return &s.healthy
}

// begin sends calls to a server while it may have more and there is something to send. w.mu is held.
func (w *writer) begin(s *line) {
	now := time.Now()
	for _, q := range []*queue{&s.healthy, &s.sick} {
		for m := w.gather(s, q, now); m != nil; m = w.gather(s, q, now) {
			w.c.wg.Go(func() { w.send(m) })
		}
	}
	if len(s.healthy.ready) > 0 {
		w.awaitOverdue(s, now)
	}
	w.watch(s)
}

// awaitOverdue begins again when the oldest call that is out becomes overdue and so makes room. w.mu is held.
func (w *writer) awaitOverdue(s *line, now time.Time) {
	limit := s.pace.overdue()
	for _, m := range s.healthy.out {
		age := now.Sub(m.left)
		if age >= limit {
			continue
		}
		if s.wait == nil {
			s.wait = time.AfterFunc(limit-age, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				if !w.closed {
					w.begin(s)
				}
			})
		} else {
			s.wait.Reset(limit - age)
		}
		return // they are in the order of their leaving
	}
}

// full reports whether no more calls may go. A call that is out for far longer than the others does not count, so that they do
// not wait for it; but no more than as many again.
func (w *writer) full(s *line, q *queue, now time.Time) bool {
	most := w.c.opts.MaxServerCalls
	if q == &s.healthy && len(q.out) >= most {
		limit := s.pace.overdue()
		for _, m := range q.out[:min(len(q.out), w.c.opts.MaxServerCalls)] {
			if now.Sub(m.left) >= limit {
				most++
			}
		}
	}
	return len(q.out) >= most
}

// gather takes the next call's mutations from the front of a line: of a lane that must ride alone only its own, else of at
// most a quarter of the lanes that are busy, so that no call waits for all of them. w.mu is held.
func (w *writer) gather(s *line, q *queue, now time.Time) *multi {
	if len(q.ready) == 0 || w.full(s, q, now) {
		return nil
	}
	lanes := 1
	if q == &s.healthy {
		lanes = (len(q.ready) + q.lanes + 3) / 4
	}
	m := newMulti(s, q, now)
	rows, size := w.c.opts.MaxRequestRows, w.c.opts.MaxRequestBytes
	seen := 0
	for _, l := range q.ready {
		if len(m.parts) == lanes {
			break
		}
		if !l.dead {
			p := m.part()
			if !l.take(p, rows, size, len(m.parts) == 0) {
				break // first in the next call
			}
			m.parts = append(m.parts, p)
			rows, size = rows-len(p.entries), size-p.bytes
		}
		l.ready = false
		seen++
	}
	q.ready = slices.Delete(q.ready, 0, seen)
	if len(m.parts) == 0 {
		m.recycle()
		return nil
	}
	q.out = append(q.out, m)
	m.ctx, m.giveUp = context.WithCancelCause(w.c.ctx)
	m.nth = len(s.healthy.out) + len(s.sick.out)
	q.lanes += len(m.parts)
	return m
}

// close fails what is queued; what is out fails when its connections close.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	for m := range w.holding {
		w.release(m)
	}
	var left []entry
	for _, ls := range w.tables {
		for _, l := range ls.all {
			l.stopTimer()
			left = append(left, l.queue.items()...)
			l.queue, l.bytes = fifo{}, 0
			l.makeRoom()
		}
	}
	for _, s := range w.servers {
		for _, t := range []*time.Timer{s.wait, s.watcher} {
			if t != nil {
				t.Stop()
			}
		}
	}
	w.mu.Unlock()
	for _, e := range left {
		w.settle([]entry{e}, failures([]entry{e}, ErrClosed)...)
	}
}
