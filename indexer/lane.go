package indexer

import (
	"sync"
	"time"

	"brine/internal/backoff"
)

// lane writes the documents whose ids belong to it, one call at a time; while a call is pending, others gather. Its goroutine is run,
// started by New and joined by Close.
type lane struct {
	w    *Writer
	wake chan struct{} // holds one token if queue may not be empty

	mu     sync.Mutex
	queue  []*op // submitted, not yet seen by run
	closed bool  // run has ended and reads no more

	// The following fields belong to run.
	pending  []*op // in the order submitted; written from the front
	scanned  int   // the number of pending ops that the round has processed
	groups   []group
	byHash   map[uint64]int   // the index of the group for an op's hash, or postponed
	parts    map[string]error // the result of creating the parts of indexes that were missing in this round
	maxDocs  int              // per call; halved until the call contains only the document that makes a request fail
	attempt  int              // consecutive pauses
	due      time.Time        // the earliest time at which a waiting op may be sent again
	failed   int              // groups of this round's calls that failed as a whole
	waiting  int              // groups of this round that wait on their own
	rereads  int              // groups of this round that another writer has changed since they were read
	decided  int              // groups of this round that are settled
	lapsed   int              // ops that gave up in this round, waiting for what is owed
	owed     owed
	pauseErr error
	info     CallInfo // of the last call

	merger  merger
	recent  *recent
	refs    []Ref
	stored  []Stored
	ops     []Op
	sent    []int    // by op: the index of its group
	made    [][]byte // by op: the document in the form for recent; nil: none
	results []Result
	scratch []byte // the merged documents of one round
}

func newLane(w *Writer) *lane {
	return &lane{
		w: w, wake: make(chan struct{}, 1), byHash: map[uint64]int{}, parts: map[string]error{}, owed: newOwed(),
		maxDocs: w.opts.MaxBulkDocuments, recent: newRecent(w.opts.MaxRecentBytes / w.opts.Calls),
	}
}

func (l *lane) run() {
	for l.fill() && l.w.pace.enter(l.w.ctx) {
		l.gather(time.Now())
		if len(l.groups) > 0 {
			l.write()
		}
		l.w.pace.leave()
		if len(l.groups) == 0 && l.lapsed == 0 {
			l.idle()
			continue
		}
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

// put queues those ops of a batch that belong to this lane, number i of n.
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

// fill waits until something is pending. It returns false if the writer is closed.
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

// finish settles the ops that have an outcome and keeps the others pending, in order.
func (l *lane) finish() {
	keep, now := 0, time.Now()
	var d *document
	var outcome Outcome
	n := 0
	for i, o := range l.pending[:l.scanned] {
		if o.doc != d || o.outcome != outcome {
			if n > 0 && outcome != untried {
				l.w.opts.Hooks.Items(ItemsInfo{d.Index, outcome, n})
			}
			d, outcome, n = o.doc, o.outcome, 0
		}
		n++
		l.pending[i] = nil
		if o.outcome == Again || o.outcome == untried {
			l.pending[keep] = o
			keep++
			continue
		}
		if o.outcome == Retried {
			l.owed.add(o, now)
		} else {
			l.owed.pay(o)
		}
		f := o.flight
		if o.outcome != Written && o.outcome != Conflict {
			f.fail(o.failure)
		}
		f.settle(1) // from here on o may belong to another flight
	}
	if n > 0 && outcome != untried {
		l.w.opts.Hooks.Items(ItemsInfo{d.Index, outcome, n})
	}
	rest := copy(l.pending[keep:], l.pending[l.scanned:])
	clear(l.pending[keep+rest:])
	l.pending = l.pending[:keep+rest]
}

// idle waits until a waiting op may be sent again, or something new arrives.
func (l *lane) idle() {
	timer := time.NewTimer(time.Until(l.due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.wake:
	case <-l.w.ctx.Done():
	}
}

// pause waits before the next round if the server refused a whole call, or if other writers changed every document first. It waits twice as
// long every time, with up to half of it random.
func (l *lane) pause() {
	if l.waiting > 0 {
		l.reportRetry(l.waiting, time.Until(l.due), 1)
	}
	if l.failed == 0 && (l.rereads == 0 || l.decided > 0) {
		l.attempt = 0
		return
	}
	d := backoff.Exponential(l.w.opts.Pause, l.w.opts.MaxPause, l.attempt)
	l.attempt++
	l.reportRetry(l.failed+l.rereads, d, l.attempt)
	_ = backoff.Wait(l.w.ctx, d) // run checks whether the writer is closed
}

func (l *lane) reportRetry(documents int, d time.Duration, attempt int) {
	l.w.opts.Hooks.Retry(RetryInfo{Documents: documents, Pause: max(0, d), Attempt: attempt, Err: l.pauseErr})
}
