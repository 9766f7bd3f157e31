package hbase

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// writer takes mutations from Submit to their results:
//
//	Submit → lane of the region → (located) → line of the server → call → results
//	              ↑ back in order, after the remedy ────────────────┘
//
// While a server's calls are out its lanes gather; the next call takes what has come together (group commit). A lane is in at
// most one call. A lane that failed waits by itself and then rides alone, in a call that does not count against the others'.
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
	closed  bool
}

// line is a server's lanes that are ready to send, in the order in which they became so.
type line struct {
	healthy queue
	sick    queue // lanes that failed since something of theirs was last applied
}

// queue is lanes in line, and what of them is out.
type queue struct {
	ready []*lane
	calls int // out
	lanes int // in those calls
}

func newWriter(c *Client) *writer {
	return &writer{
		c: c, budget: semaphore.NewWeighted(int64(c.opts.MaxBufferedBytes)),
		tables: make(map[string]*lanes), servers: make(map[string]*line), holding: make(map[*Mutator]struct{}),
	}
}

// Submit is Mutator.Submit with autoflush, and with the client's retries and pause.
func (c *Client) Submit(ctx context.Context, b *Batch) *Flight { return c.auto.Submit(ctx, b) }

// check sorts out the mutations that can never be written.
func (w *writer) check(f *Flight) (good []entry, bad []MutationError) {
	good = make([]entry, 0, f.batch.Len())
	for i := range f.batch.Len() {
		if err := f.batch.check(i, w.c.opts.MaxCellBytes); err != nil {
			bad = append(bad, MutationError{Index: i, Kind: BadRow, Err: err})
			continue
		}
		good = append(good, entry{flight: f, index: int32(i)})
	}
	return good, bad
}

// failures are those of mutations whose last error is not the server's.
func failures(es []entry, err error) []MutationError {
	errs := make([]MutationError, len(es))
	for i, e := range es {
		kind := Transient
		if errors.Is(err, ErrClosed) && e.attempts == 0 {
			kind = Closed
		}
		errs[i] = MutationError{Index: int(e.index), Kind: kind, Attempts: int(e.attempts), Err: err}
	}
	return errs
}

// reserve waits for room in the byte bound for a flight's mutations, and tells how many bytes they take.
func (w *writer) reserve(ctx context.Context, f *Flight, es []entry) (size int, err error) {
	for _, e := range es {
		size += e.size()
	}
	weight := min(size, w.c.opts.MaxBufferedBytes)
	f.excess = size - weight
	if !w.budget.TryAcquire(int64(weight)) {
		defer w.holdNothing()()
		ctx, cancel := w.c.joined(ctx)
		defer cancel()
		if err := w.budget.Acquire(ctx, int64(weight)); err != nil {
			return 0, fmt.Errorf("waiting for room for %d bytes: %w", size, context.Cause(ctx))
		}
	}
	w.account(size)
	return size, nil
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
}

func (w *writer) account(delta int) {
	n := w.buffered.Add(int64(delta))
	if hook := w.c.opts.Hooks.Buffered; hook != nil && delta != 0 {
		hook(int(n))
	}
}

// enqueue deals a flight's entries out to their lanes and lets servers begin when all are there, unless the mutator lets them
// wait. It refuses when the client is closed.
func (w *writer) enqueue(f *Flight, es []entry) bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	ls := w.tables[f.table]
	if ls == nil {
		ls = newLanes(f.table)
		w.tables[f.table] = ls
	}
	m := f.mutator
	hold := !m.opts.Autoflush && w.blocked == 0
	var touched []*lane
	for _, e := range es {
		l := ls.of(e.row())
		switch free := len(l.queue) == 0 || l.holder != nil; {
		case !free: // a call that is out, or a pause, will wake it
		case hold:
			w.hold(l, m, e.size())
		default:
			l.holder = nil
			touched = append(touched, l)
		}
		l.queue = append(l.queue, e)
	}
	w.wake(touched...)
	full := 0
	if m.bytes >= m.opts.WriteBuffer {
		full = w.release(m)
	}
	w.mu.Unlock()
	m.announce(FlushInfo{FlushFull, full})
	return true
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
		s = new(line)
		w.servers[addr] = s
	}
	return s
}

func (s *line) queueOf(l *lane) *queue {
	if l.failures > 0 {
		return &s.sick
	}
	return &s.healthy
}

// begin sends calls to a server while it may have more and there is something to send. w.mu is held.
func (w *writer) begin(s *line) {
	for _, q := range []*queue{&s.healthy, &s.sick} {
		for m := w.gather(q, q == &s.sick); m != nil; m = w.gather(q, q == &s.sick) {
			m.line = s
			w.c.wg.Go(func() { w.send(m) })
		}
	}
}

// gather takes the next call's mutations from the front of a line: of a failing lane alone, else of at most a quarter of
// the lanes that are busy, so that no call waits for all of them. w.mu is held.
func (w *writer) gather(q *queue, alone bool) *multi {
	if q.calls >= w.c.opts.MaxServerCalls {
		return nil
	}
	lanes := 1
	if !alone {
		lanes = (len(q.ready) + q.lanes + 3) / 4
	}
	m := &multi{from: q}
	rows, size := w.c.opts.MaxRequestRows, w.c.opts.MaxRequestBytes
	for len(q.ready) > 0 && len(m.parts) < lanes {
		l := q.ready[0]
		if !l.dead {
			p := l.take(min(rows, l.maxRows()), size, len(m.parts) == 0)
			if p == nil {
				break // first in the next call
			}
			rows, size = rows-len(p.entries), size-p.bytes
			m.parts = append(m.parts, p)
		}
		l.ready = false
		q.ready = q.ready[1:]
	}
	if len(m.parts) == 0 {
		return nil
	}
	q.calls++
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
			left = append(left, l.queue...)
			l.queue = nil
		}
	}
	w.mu.Unlock()
	for _, e := range left {
		w.settle([]entry{e}, failures([]entry{e}, ErrClosed)...)
	}
}
