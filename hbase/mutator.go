package hbase

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// MutatorOptions say when mutations leave and how often they are sent again. The names in brackets are HBase's own settings.
type MutatorOptions struct {
	Autoflush   bool          // a mutation leaves as soon as its lane is free; else it may wait for WriteBuffer or Linger
	WriteBuffer int           // [hbase.client.write.buffer] bytes of cells that are held back at most; 2 MiB
	Linger      time.Duration // [hbase.client.write.buffer.periodicflush.timeout.ms] longest time that a mutation is held back; 5 ms
	Retries     int           // [hbase.client.retries.number] the client's
	Pause       time.Duration // [hbase.client.pause] the client's
	Durability  Durability    // [Durability of a Mutation] the table's
}

// EnsureDefaults sets what is zero to its default, which for some is the client's option.
func (o *MutatorOptions) EnsureDefaults(client *Options) {
	orDefault(&o.WriteBuffer, min(2<<20, client.MaxBufferedBytes))
	orDefault(&o.Linger, 5*time.Millisecond)
	orDefault(&o.Retries, client.Retries)
	orDefault(&o.Pause, client.Pause)
}

// Validate names every option that cannot work beside the client's. It expects EnsureDefaults to have run.
func (o *MutatorOptions) Validate(client *Options) error {
	both := *client
	both.Retries, both.Pause = o.Retries, o.Pause
	errs := []error{both.Validate()}
	if o.WriteBuffer < 1 || o.WriteBuffer > client.MaxBufferedBytes {
		errs = append(errs, fmt.Errorf("option WriteBuffer is %d, must be from 1 to the client's MaxBufferedBytes, which is %d", o.WriteBuffer, client.MaxBufferedBytes))
	}
	if o.Linger < 0 {
		errs = append(errs, fmt.Errorf("option Linger is %v, must be positive", o.Linger))
	}
	if int(o.Durability) >= len(durabilities) {
		errs = append(errs, fmt.Errorf("option Durability is %d, must be at most %d", o.Durability, len(durabilities)-1))
	}
	return errors.Join(errs...)
}

// Mutator is a handle to write with: what is submitted through it leaves, and is sent again, as its options say. All mutators
// of a client share its lanes, calls and byte bound, and two mutations of one row are applied in the order of their Submits,
// whichever mutators they came through. A Mutator is safe for concurrent use. There is nothing to close: Flush, and drop it.
//
// Without autoflush a lane that was empty is held back when a mutation joins it, until the mutator flushes. What must leave
// earlier takes along what waits before it: another mutator's mutation, a retry, a change of the region. So a mutation may
// leave sooner than its mutator's flush, never later.
type Mutator struct {
	c    *Client
	opts MutatorOptions
	call Options // the client's, with the mutator's own Retries and Pause

	mu   sync.Mutex
	open map[*Flight]struct{} // some mutation has no result yet

	// The writer's mutex guards these. Lanes may be listed that have left already, and more than once; bytes counts theirs too.
	held  []*lane
	bytes int
	timer *time.Timer // of the linger; set while held has any
	round int         // of the timer
}

// FlushReason is why mutations left.
type FlushReason string

// The reasons.
const (
	FlushAuto   FlushReason = "autoflush" // by Submit itself
	FlushFull   FlushReason = "full"      // WriteBuffer was reached, or a Submit waited for room in the client's byte bound
	FlushLinger FlushReason = "linger"    // Linger was over
	FlushCalled FlushReason = "flush"     // by Flush
	FlushDrain  FlushReason = "drain"     // by Release
)

// FlushInfo is one time that a mutator let mutations go.
type FlushInfo struct {
	Reason FlushReason
	Bytes  int // of their cells
}

// Mutator makes a handle with options of its own.
func (c *Client) Mutator(o MutatorOptions) (*Mutator, error) {
	o.EnsureDefaults(&c.opts)
	if err := o.Validate(&c.opts); err != nil {
		return nil, fmt.Errorf("hbase mutator options: %w", err)
	}
	return c.newMutator(o), nil
}

func (c *Client) newMutator(o MutatorOptions) *Mutator {
	m := &Mutator{c: c, opts: o, call: c.opts, open: make(map[*Flight]struct{})}
	m.call.Retries, m.call.Pause = o.Retries, o.Pause
	return m
}

// Submit queues the batch's mutations in order into the lanes of their regions and returns their flight. It blocks only
// while the client's byte bound (Options.MaxBufferedBytes) is spent, and then lets go whatever is held back; a batch larger
// than the bound goes when nothing else is buffered. Bytes return to the bound with each mutation's result, though the batch's
// buffer lives as long as its flight. If ctx ends while it blocks, every mutation fails as Transient, unsent.
func (m *Mutator) Submit(ctx context.Context, b *Batch) *Flight {
	f := newFlight(ctx, m, b, time.Now())
	w := m.c.writer
	list := entryLists.Get().(*[]entry)
	defer putEntries(list)
	good, bad := w.check((*list)[:0], f)
	*list = good
	f.settle(len(bad), bad...)
	size, err := w.admit(ctx, f, good)
	if err != nil {
		f.settle(len(good), failures(good, err)...)
		return f
	}
	if m.opts.Autoflush {
		m.announce(FlushInfo{FlushAuto, size})
	}
	return f
}

// entryLists are lists of a batch's mutations, needed until they are in their lanes.
var entryLists = sync.Pool{New: func() any { return new([]entry) }}

func putEntries(list *[]entry) {
	clear(*list)
	entryLists.Put(list)
}

// Flush sends what is held back and waits until every mutation that was submitted before has its result, which its flight
// tells. It returns ctx's error if ctx ends first; the mutations go on.
func (m *Mutator) Flush(ctx context.Context) error {
	m.mu.Lock()
	before := make([]*Flight, 0, len(m.open))
	for f := range m.open {
		before = append(before, f)
	}
	m.mu.Unlock()
	m.flush(FlushCalled)
	for _, f := range before {
		if _, err := f.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Release sends what is held back, and returns: for a caller who submits nothing more for now.
func (m *Mutator) Release() { m.flush(FlushDrain) }

// Hurry has what waits out a pause, because its region or server failed, tried now: for a caller who has little time left. It counts as any other
// try, of all that this client writes.
func (m *Mutator) Hurry() { m.c.writer.hurry() }

// flush frees the lanes that the mutator holds back.
func (m *Mutator) flush(reason FlushReason) {
	w := m.c.writer
	w.mu.Lock()
	bytes := w.release(m)
	w.mu.Unlock()
	m.announce(FlushInfo{reason, bytes})
}

func (m *Mutator) announce(i FlushInfo) {
	if hook := m.c.opts.Hooks.Flush; hook != nil && i.Bytes > 0 {
		hook(i)
	}
}

// landed forgets a flight of which every mutation has its result.
func (m *Mutator) landed(f *Flight) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, f)
}
