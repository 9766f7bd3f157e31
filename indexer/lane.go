package indexer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"brine/event"
)

// lane writes the documents whose ids fall to it, one call at a time; while a call is out the rest gathers. Its goroutine is
// run, started by New and joined by Close.
type lane struct {
	w    *Writer
	wake chan struct{} // holds one token when queue may have something

	mu     sync.Mutex
	queue  []*op // submitted, not yet seen by run
	closed bool  // run has ended and sees no more

	// What follows belongs to run.
	pending  []*op // in the order submitted; written from the front
	scanned  int   // how many of pending the round has looked at
	groups   []group
	byHash   map[uint64]int // group of an op's hash
	maxDocs  int            // limits of one call; they shrink when the server refuses a call's size
	maxBytes int
	accepted int // documents accepted since a call of one document was last refused
	attempt  int // pauses in a row
	paused   int // groups of this round that wait for a pause
	rereads  int // groups of this round that another writer has changed since they were read
	decided  int // groups of this round that are settled
	pauseErr error

	merger  merger
	refs    []Ref
	stored  []Stored
	ops     []Op
	sent    []int // group of each of ops
	results []Result
	scratch []byte // the merged documents of one round
}

// group is the ops of one document that one write settles, in order.
type group struct {
	first, last *op
	n           int
}

func newLane(w *Writer) *lane {
	return &lane{
		w: w, wake: make(chan struct{}, 1), byHash: map[uint64]int{},
		maxDocs: w.opts.MaxBulkDocuments, maxBytes: w.opts.MaxBulkBytes,
	}
}

func (l *lane) run() {
	for l.fill() {
		l.gather()
		l.write()
		l.finish()
		l.pause()
	}
	l.mu.Lock()
	l.closed = true
	l.pending = append(l.pending, l.queue...)
	l.mu.Unlock()
	for _, o := range l.pending {
		o.abandon()
	}
	l.scanned = len(l.pending)
	l.finish()
}

// put queues the ops of one batch that fall to this lane, number i of n.
func (l *lane) put(ops []op, i, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at := range ops {
		o := &ops[at]
		if o.hash%uint64(n) != uint64(i) {
			continue
		}
		if !l.closed {
			l.queue = append(l.queue, o)
			continue
		}
		o.abandon()
		o.flight.fail(o.failure)
		o.flight.settle(1)
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// fill waits until something is pending. It gives false when the writer is closed.
func (l *lane) fill() bool {
	for {
		l.mu.Lock()
		l.pending = append(l.pending, l.queue...)
		l.queue = l.queue[:0]
		l.mu.Unlock()
		if l.w.ctx.Err() != nil {
			return false
		}
		if len(l.pending) > 0 {
			return true
		}
		select {
		case <-l.wake:
		case <-l.w.ctx.Done():
		}
	}
}

// gather groups the front of pending by document, up to the limits of one call.
func (l *lane) gather() {
	clear(l.byHash)
	l.groups, l.scanned, l.pauseErr = l.groups[:0], 0, nil
	l.paused, l.rereads, l.decided = 0, 0, 0
	size := 0
	for _, o := range l.pending {
		o.next, o.outcome = nil, Again
		if at, ok := l.byHash[o.hash]; ok {
			if g := &l.groups[at]; g.first.same(o) && !o.alone && !g.first.alone {
				g.last.next, g.last, g.n = o, o, g.n+1
				size += len(o.source)
			} // else it keeps its place and waits for the next round
		} else {
			size += len(o.source)
			if len(l.groups) >= l.maxDocs || len(l.groups) > 0 && size > l.maxBytes {
				return
			}
			l.byHash[o.hash] = len(l.groups)
			l.groups = append(l.groups, group{first: o, last: o, n: 1})
		}
		l.scanned++
	}
}

// write turns the groups into operations, sends them and decides on every outcome.
func (l *lane) write() {
	if err := l.read(); err != nil {
		l.failCall(l.sent, err)
		return
	}
	l.prepare()
	for from := 0; from < len(l.ops); {
		to, size := from+1, len(l.ops[from].Source)
		for to < len(l.ops) && size+len(l.ops[to].Source) <= l.maxBytes {
			size += len(l.ops[to].Source)
			to++
		}
		if !l.send(from, to, size) {
			return
		}
		from = to
	}
}

// read reads the stored documents of the groups of partial changes.
func (l *lane) read() error {
	l.refs, l.sent = l.refs[:0], l.sent[:0]
	for i := range l.groups {
		if o := l.groups[i].first; o.doc.Changes == Partial {
			l.refs = append(l.refs, Ref{Index: o.doc.Index, ID: o.id})
			l.sent = append(l.sent, i)
		}
	}
	if len(l.refs) == 0 {
		return nil
	}
	l.stored = append(l.stored[:0], make([]Stored, len(l.refs))...)
	return l.call(CallGet, len(l.refs), 0, func(ctx context.Context) error {
		return l.w.engine.Get(ctx, l.refs, l.stored)
	})
}

// prepare makes one operation of every group that has something to write.
func (l *lane) prepare() {
	l.ops, l.sent, l.scratch = l.ops[:0], l.sent[:0], l.scratch[:0]
	read := 0
	for i := range l.groups {
		g := &l.groups[i]
		write := Op{Kind: Put, Index: g.first.doc.Index, ID: g.first.id}
		if g.first.doc.Changes == Whole {
			newest := g.newest()
			write.Source, write.Version = newest.source, newest.version
		} else {
			read++
			if changed, err := l.merge(g, &l.stored[read-1], &write); err != nil {
				l.decide(g, refuse, err)
				continue
			} else if !changed {
				l.decide(g, newer, nil)
				continue
			}
		}
		l.ops = append(l.ops, write)
		l.sent = append(l.sent, i)
	}
}

// newest is the op that whole changes of one document amount to: the greatest version, among equals the last.
func (g *group) newest() *op {
	newest := g.first
	for o := g.first.next; o != nil; o = o.next {
		if o.version >= newest.version {
			newest = o
		}
	}
	return newest
}

// merge merges the partial changes of g into the stored document and sets write to the result.
func (l *lane) merge(g *group, stored *Stored, write *Op) (changed bool, err error) {
	write.Kind = Create
	var source []byte
	if stored.Found {
		write.Kind, write.SeqNo, write.PrimaryTerm = Replace, stored.SeqNo, stored.PrimaryTerm
		source = stored.Source
	}
	fields, err := l.merger.begin(g.first.doc, source)
	if err != nil {
		return false, err
	}
	for o := g.first; o != nil; o = o.next {
		l.merger.add(o)
	}
	from := len(l.scratch)
	l.scratch = l.merger.appendDocument(l.scratch, g.first.doc, g.first, fields)
	write.Source = l.scratch[from:len(l.scratch):len(l.scratch)]
	return l.merger.changed, nil
}

// send makes one bulk call of l.ops[from:to]. It gives false when the rest of the round must wait too.
func (l *lane) send(from, to, size int) bool {
	ops := l.ops[from:to]
	l.results = append(l.results[:0], make([]Result, len(ops))...)
	err := l.call(CallBulk, len(ops), size, func(ctx context.Context) error {
		return l.w.engine.Bulk(ctx, ops, l.results)
	})
	if err != nil {
		if remedyOfCall(err) == split {
			l.maxBytes = max(1, min(l.maxBytes, size)/2)
		}
		l.failCall(l.sent[from:to], err)
		return false
	}
	for i, result := range l.results {
		g := &l.groups[l.sent[from+i]]
		r := remedyOf(result.Status)
		if r == settled {
			l.accepted++
		}
		if r == newer && g.first.doc.Changes == Partial {
			r = reread
		}
		l.decide(g, r, &RequestError{Status: result.Status, Reason: result.Reason})
	}
	l.maxBytes = min(l.w.opts.MaxBulkBytes, l.maxBytes+max(1, l.w.opts.MaxBulkBytes/64))
	l.maxDocs = min(l.w.opts.MaxBulkDocuments, 2*l.maxDocs)
	return true
}

// call times fn and tells the hook.
func (l *lane) call(kind CallKind, documents, size int, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(l.w.ctx, l.w.opts.CallTimeout,
		fmt.Errorf("no answer within %v (call_timeout)", l.w.opts.CallTimeout))
	defer cancel()
	start := time.Now()
	err := fn(ctx)
	if err != nil {
		err = cause(ctx, err)
	}
	if l.w.opts.Hooks.Call != nil {
		l.w.opts.Hooks.Call(CallInfo{Kind: kind, Documents: documents, Bytes: size, Duration: time.Since(start), Err: err})
	}
	return err
}

// failCall decides on the groups of a call that failed as a whole.
func (l *lane) failCall(groups []int, err error) {
	r := remedyOfCall(err)
	if len(groups) > 1 && (r == split || r == isolate) {
		l.maxDocs = len(groups) / 2
		return // all are sent again, by halves
	}
	for _, i := range groups {
		l.decide(&l.groups[i], r, err)
	}
}

// decide gives every op of a group its outcome.
func (l *lane) decide(g *group, r remedy, err error) {
	switch r {
	case settled:
		l.decided++
		newest := g.newest()
		for o := g.first; o != nil; o = o.next {
			o.outcome = Written
			if o != newest && o.doc.Changes == Whole {
				o.outcome = Conflict
			}
		}
	case newer:
		l.decided++
		for o := g.first; o != nil; o = o.next {
			o.outcome = Conflict
		}
	case denied, noIndex:
		for o := g.first; o != nil; o = o.next {
			o.fail(Halted, failureOf(o, r, err))
		}
	case refuse, split, isolate:
		l.refuse(g, r, err)
	default:
		if r == reread {
			l.rereads++
		} else {
			l.paused++
		}
		l.pauseErr = err
		now := time.Now()
		for o := g.first; o != nil; o = o.next {
			if now.After(o.deadline) {
				o.fail(Retried, failureOf(o, r, err))
			}
		}
	}
}

// refuse rejects a change that stands alone; changes that were merged are first tried one by one.
func (l *lane) refuse(g *group, r remedy, err error) {
	if g.n > 1 {
		for o := g.first; o != nil; o = o.next {
			o.alone = true
		}
		return
	}
	f := failureOf(g.first, r, err)
	if r == isolate { // the fault is the document's only if the server takes others
		if l.accepted == 0 {
			f.Verdict, f.Reason = event.Halt, event.Unknown
			f.Err = errors.Join(f.Err, errors.New("the server has taken no other document since: is search.connect the address of a search server?"))
			g.first.fail(Halted, f)
			return
		}
		l.accepted = 0
	}
	g.first.fail(Rejected, f)
}

// abandon fails an op of a writer that was closed.
func (o *op) abandon() {
	o.fail(Retried, event.Failure{Index: o.event, Verdict: event.Retry, Reason: event.Unavailable, Err: ErrClosed})
}

func (o *op) fail(outcome Outcome, f event.Failure) { o.outcome, o.failure = outcome, f }

// finish settles the ops that have their outcome and keeps the others pending, in order.
func (l *lane) finish() {
	hook := l.w.opts.Hooks.Items
	keep := 0
	var d *document
	var outcome Outcome
	n := 0
	for i, o := range l.pending[:l.scanned] {
		if hook != nil && (o.doc != d || o.outcome != outcome) {
			if n > 0 {
				hook(d.Index, outcome, n)
			}
			d, outcome, n = o.doc, o.outcome, 0
		}
		n++
		l.pending[i] = nil
		if o.outcome == Again {
			l.pending[keep] = o
			keep++
			continue
		}
		f := o.flight
		if o.outcome != Written && o.outcome != Conflict {
			f.fail(o.failure)
		}
		f.settle(1) // o may be another flight's from here on
	}
	if hook != nil && n > 0 {
		hook(d.Index, outcome, n)
	}
	rest := copy(l.pending[keep:], l.pending[l.scanned:])
	clear(l.pending[keep+rest:])
	l.pending = l.pending[:keep+rest]
}

// pause waits before documents are sent again; twice as long every time, up to half of it left to chance.
func (l *lane) pause() {
	if l.paused == 0 && (l.rereads == 0 || l.decided > 0) {
		l.attempt = 0
		return
	}
	d := min(l.w.opts.Pause<<min(l.attempt, 16), l.w.opts.MaxPause)
	d -= time.Duration(rand.Int64N(int64(d)/2 + 1))
	l.attempt++
	if l.w.opts.Hooks.Retry != nil {
		l.w.opts.Hooks.Retry(RetryInfo{Documents: l.paused + l.rereads, Pause: d, Attempt: l.attempt, Err: l.pauseErr})
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.w.ctx.Done():
	}
}
