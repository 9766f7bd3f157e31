package hbase

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Flight is a submitted batch until each of its mutations has its result.
type Flight struct {
	ctx       context.Context // of the Submit, for the Sent hook alone
	mutator   *Mutator
	batch     *Batch
	table     string // as hbase:meta knows it
	submitted time.Time
	deadline  time.Time
	done      chan struct{}

	// The writer's mutex guards these; admit.go says what they are for.
	turn   int   // its place among all that were submitted
	claims *lane // that it waits for

	// And these; ease.go says what they are for.
	stuck  int     // mutations without a result that wait in lanes that fail
	waits  []int32 // those that ever did; nil when the flight is eased
	kept   []int32 // by mutation of batch: its index in the batch that was submitted; nil: the same
	sick   atomic.Bool
	eased  chan struct{}
	wanted bool // Ease was called

	mu     sync.Mutex
	open   int // mutations without a result
	failed []MutationError
	excess int // bytes above the client's bound, see weigh
}

// MutationError is what became of one mutation that is not known to be durable.
type MutationError struct {
	Index    int    // in the batch
	Class    string // HBase's exception class, empty for a connection's error
	Kind     Kind
	Attempts int
	Server   string
	Err      error
}

// Kind sorts failures by what the caller can do.
type Kind uint8

// The kinds of failure.
const (
	Transient Kind = iota + 1 // retries or time ran out, outcome unknown: submit again later
	Refused                   // do-not-retry by the server, cause not known to lie in the table: may be this mutation alone
	BadRow                    // this mutation alone can never be written: cell too large, row too long
	NoTable                   // no such table or family, table disabled
	Denied                    // access denied
	Closed                    // the client was closed before the mutation was sent
)

func newFlight(ctx context.Context, m *Mutator, b *Batch, now time.Time) *Flight {
	f := &Flight{
		ctx: ctx, mutator: m, batch: b, table: tableKey(b.Table()), submitted: now, deadline: now.Add(cmp.Or(m.call.Patience, m.call.OperationTimeout)),
		done: make(chan struct{}), eased: make(chan struct{}), open: b.Len(),
	}
	if f.open == 0 {
		close(f.done)
		return f
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open[f] = struct{}{}
	return f
}

// Wait blocks until every mutation is durable or has failed for good, and gives nil or the failed ones in ascending order
// of Index. When ctx ends first it returns why, with what the flight waits for; the flight goes on and may be waited for again.
func (f *Flight) Wait(ctx context.Context) ([]MutationError, error) {
	select {
	case <-f.done:
		return f.failed, nil
	case <-ctx.Done():
		return nil, f.interrupted(ctx)
	}
}

// interrupted is why ctx ended, with what keeps the flight.
func (f *Flight) interrupted(ctx context.Context) error {
	return interrupted(ctx, f.mutator.c.writer.obstacle(f))
}

// Done is closed when every mutation has its result: Wait then returns at once.
func (f *Flight) Done() <-chan struct{} { return f.done }

// settle gives n mutations their results: those in errs have failed for good, the others are durable.
func (f *Flight) settle(n int, errs ...MutationError) {
	if n == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = append(f.failed, errs...)
	f.open -= n
	switch {
	case f.open < 0:
		panic("BUG: a mutation got two results")
	case f.open == 0:
		slices.SortFunc(f.failed, func(a, b MutationError) int { return cmp.Compare(a.Index, b.Index) })
		f.mutator.landed(f)
		close(f.done)
	}
}

// weigh tells how much of size was taken from the byte bound: a batch larger than the bound took only all of it.
func (f *Flight) weigh(size int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	free := min(size, f.excess)
	f.excess -= free
	return size - free
}
