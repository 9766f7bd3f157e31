package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
)

// Flight is a submitted batch until each of its mutations has its result.
type Flight struct {
	ctx       context.Context // of the Submit, only for the Sent hook
	mutator   *Mutator
	batch     *Batch
	table     string // name in hbase:meta
	submitted time.Time
	deadline  time.Time
	done      chan struct{}

	// Guarded by the Writer's mutex; see submit.go.
	turn   int   // position among all submitted flights
	claims *lane // lane that the flight waits for

	// Also guarded by the Writer's mutex; see pending.go.
	pending   int           // number of mutations without a result that wait in failing lanes
	waited    []int32       // mutations that ever did; nil once the flight has stalled
	kept      []int32       // index in the submitted batch of each mutation in batch; nil: the same
	stallable bool          // WaitPending was called
	stalled   chan struct{} // closed when the flight stalls
	mayStall  atomic.Bool   // some mutation has been pending

	mu        sync.Mutex
	unsettled int // number of mutations without a result
	failed    []MutationError
	excess    int // bytes above the client's bound; see weigh
}

// MutationError is the failure of a mutation that is not known to be durable.
type MutationError struct {
	Index    int    // index in the batch
	Class    string // HBase's exception class; empty for a connection error
	Kind     remote.Kind
	Attempts int
	Server   string
	Err      error
}

func (e *MutationError) Error() string {
	return fmt.Sprintf("mutation %d, %s after %d tries: %v", e.Index, e.Kind, e.Attempts, e.Err)
}

func (e *MutationError) Unwrap() error { return e.Err }

func newFlight(ctx context.Context, m *Mutator, b *Batch, now time.Time) *Flight {
	f := &Flight{
		ctx: ctx, mutator: m, batch: b, table: locate.TableKey(b.Table()), submitted: now,
		deadline: now.Add(m.opts.Timeout),
		done:     make(chan struct{}), stalled: make(chan struct{}), unsettled: b.Len(),
	}
	if f.unsettled == 0 {
		close(f.done)
		return f
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unsettled[f] = struct{}{}
	return f
}

// Wait blocks until every mutation is durable or has finally failed. It returns nil, or the failed mutations in ascending order of Index.
// If ctx ends first, it returns why, and what the flight is waiting for; the flight continues, and Wait may be called again.
func (f *Flight) Wait(ctx context.Context) ([]MutationError, error) {
	select {
	case <-f.done:
		return f.failed, nil
	case <-ctx.Done():
		return nil, f.interrupted(ctx)
	}
}

// interrupted returns why ctx ended, and what is holding up the flight.
func (f *Flight) interrupted(ctx context.Context) error {
	return remote.Interrupted(ctx, f.mutator.w.obstacle(f))
}

// Done returns a channel that is closed when every mutation has its result: Wait then returns at once.
func (f *Flight) Done() <-chan struct{} { return f.done }

// settle records the results of n mutations: those in errs have finally failed, the others are durable.
func (f *Flight) settle(n int, errs ...MutationError) {
	if n == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = append(f.failed, errs...)
	f.unsettled -= n
	switch {
	case f.unsettled < 0:
		panic("BUG: a mutation got two results")
	case f.unsettled == 0:
		slices.SortFunc(f.failed, func(a, b MutationError) int { return cmp.Compare(a.Index, b.Index) })
		f.mutator.landed(f)
		close(f.done)
	}
}

// weigh returns how much of size was taken from the byte bound: a batch larger than the bound took only all of it.
func (f *Flight) weigh(size int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	free := min(size, f.excess)
	f.excess -= free
	return size - free
}

// report passes the applied mutations to the hook, and then results to the flights. The order matters, because a flight's rows belong to
// its submitter again once it is done.
func (w *Writer) report(o *outcome, took time.Duration) {
	if len(o.applied) > 0 {
		bytes := 0
		for _, e := range o.applied {
			bytes += e.size()
		}
		region := o.part.region
		o.info = AppliedInfo{Table: region.Table, Region: region, Rows: len(o.applied), Bytes: bytes, Duration: took, applied: o.applied}
		w.hooks.Applied(&o.info)
	}
	for es := o.applied; len(es) > 0; {
		n := 1
		for n < len(es) && es[n].flight == es[0].flight {
			n++
		}
		w.settle(es[:n])
		es = es[n:]
	}
	for i, e := range o.refused {
		w.settle([]entry{e}, o.failed[i])
	}
}

// settle passes results to the flight that all of es belong to: those in errs have failed, the others are durable. Their bytes return to
// the bound.
func (w *Writer) settle(es []entry, errs ...MutationError) {
	if len(es) == 0 {
		return
	}
	size := 0
	for _, e := range es {
		size += e.size()
	}
	f := es[0].flight
	w.account(-size) // first, so that the count never exceeds the bound
	w.budget.Release(int64(f.weigh(size)))
	f.settle(len(es), errs...)
	if f.mayStall.Load() {
		w.mu.Lock()
		w.stall(f)
		w.mu.Unlock()
	}
}

func (w *Writer) account(delta int) {
	n := w.buffered.Add(int64(delta))
	if delta != 0 {
		w.hooks.Buffered(BufferedInfo{int(n), delta})
	}
}

// failures returns the errors of mutations whose last error is not from the server.
func failures(es []entry, err error) []MutationError {
	errs := make([]MutationError, len(es))
	for i, e := range es {
		kind := remote.Transient
		if errors.Is(err, remote.ErrClosed) && e.attempts == 0 {
			kind = remote.Closed
		}
		errs[i] = MutationError{Index: int(e.index), Kind: kind, Attempts: e.tries(), Err: err}
	}
	return errs
}
