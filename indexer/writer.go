package indexer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"brine/event"
	"brine/internal/refusal"
	"brine/rowkey/eventkey"
)

// Writer writes the documents of events into a search index. It is safe for concurrent use.
type Writer struct {
	engine   Engine
	opts     Options
	docs     []*document
	mappings []Mapping // of docs
	lanes    []*lane
	budget   *semaphore.Weighted // of opts.MaxBufferedBytes
	buffered atomic.Int64
	seed     maphash.Seed
	pace     *pace
	refused  refusal.Bound
	cargoes  sync.Pool // of *cargo

	ctx    context.Context // done after Close
	cancel context.CancelFunc
	joined sync.WaitGroup // the lanes' goroutines
}

// ErrClosed is wrapped by the failures of events that the writer dropped because it was closed.
var ErrClosed = errors.New("the indexer is closed")

// New starts a writer over an engine. It makes no call: the flights report an index that is missing or unreachable.
func New(engine Engine, opts Options) (*Writer, error) {
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	w := &Writer{
		engine:   engine,
		opts:     opts,
		mappings: opts.Mappings(),
		budget:   semaphore.NewWeighted(opts.MaxBufferedBytes),
		seed:     maphash.MakeSeed(),
		pace:     newPace(opts.Calls, opts.MaxBulkBytes),
	}
	_, parted := engine.(Partitioned)
	w.docs = compile(opts.Schema, opts.Documents, parted)
	keys, err := w.keys() // options that pass Validate have keys that fit, so the pool's New cannot fail
	if err != nil {
		return nil, err
	}
	w.cargoes.New = func() any { keys, _ := w.keys(); return w.newCargo(keys) }
	w.cargoes.Put(w.newCargo(keys))
	w.ctx, w.cancel = context.WithCancel(context.Background())
	for range opts.Calls {
		l := newLane(w)
		w.lanes = append(w.lanes, l)
		w.joined.Go(l.run)
	}
	if opts.Hooks.Probe != nil {
		for _, d := range w.docs {
			d.probe = newProbe(w, d.Index)
			w.joined.Go(d.probe.run)
		}
	}
	if slices.ContainsFunc(w.docs, (*document).expires) {
		w.joined.Go(w.expire)
	}
	return w, nil
}

// Close drops what is not yet written (verdict retry), cancels the pending calls and waits for the writer's goroutines. The engine stays
// open.
func (w *Writer) Close() error {
	w.cancel()
	w.joined.Wait()
	return nil
}

// op is one event's change of one document, in progress.
type op struct {
	flight   *flight
	event    int // in the batch
	write    int // its number among the event's writes, as in event.Rest
	doc      *document
	hash     uint64 // of doc and id
	index    string // doc.Index, or a part of it
	id       []byte
	version  int64
	produced int64  // the timestamp of its record
	offset   int64  // of its record
	source   []byte // Whole: the document; Partial: the change (appendChange)

	deadline time.Time
	due      time.Time // when it may be sent again
	tries    int       // the number of waits since then
	alone    bool      // is written alone, because it was refused together with others
	suspect  bool      // was refused while the index accepted no other document
	next     *op       // of the same document in one round
	outcome  Outcome
	failure  event.Failure
}

// cargo is the memory of one flight: its ops and the bytes that they point to.
type cargo struct {
	keys   []*eventkey.Encoder // by the document's place
	row    []byte              // of the event being encoded
	former []byte              // the row that it has left
	spans  []span              // by the document's place
	ops    []op
	bytes  []byte
	rest   event.Rest // of the event being encoded
	writes int        // made of it so far
}

func (w *Writer) newCargo(keys []*eventkey.Encoder) *cargo {
	return &cargo{keys: keys, spans: make([]span, len(w.docs))}
}

// Submit implements event.Writer: it encodes the documents of the batch and queues them in order.
func (w *Writer) Submit(ctx context.Context, batch *event.Batch) event.Flight {
	f := &flight{done: make(chan struct{}), ctx: ctx, submitted: time.Now()}
	f.left.Store(1)
	c := w.cargoes.Get().(*cargo)
	c.ops, c.bytes = c.ops[:0], c.bytes[:0]
	for i := range batch.Events {
		c.rest, c.writes = batch.Events[i].Rest, 0
		for _, d := range w.docs {
			if err := w.encode(c, f, d, i, &batch.Events[i]); err != nil {
				f.fail(*err)
			}
		}
	}
	size := min(int64(len(c.bytes)), w.opts.MaxBufferedBytes)
	if err := w.admit(ctx, size); err != nil {
		for i := range c.ops {
			f.fail(c.ops[i].unwritten(err))
		}
		c.ops, size = c.ops[:0], 0
	}
	f.free = func() {
		clear(c.ops) // drops the pointers to the flight
		w.cargoes.Put(c)
		w.release(size)
	}
	f.left.Add(int64(len(c.ops)))
	w.queue(c.ops)
	f.settle(1)
	return f
}

// Release implements event.Writer. It does nothing: a lane sends as soon as a call is free, so nothing is held back.
func (w *Writer) Release() {}

// Hurry implements event.Writer. It does not shorten the pauses between attempts.
func (w *Writer) Hurry() {}

// admit takes size bytes from the budget. It waits for them until ctx ends or the writer is closed.
func (w *Writer) admit(ctx context.Context, size int64) error {
	if w.ctx.Err() != nil {
		return ErrClosed
	}
	if !w.budget.TryAcquire(size) {
		began := time.Now()
		defer func() { w.opts.Hooks.Blocked(BlockedInfo{time.Since(began)}) }()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		stop := context.AfterFunc(w.ctx, func() { cancel(ErrClosed) })
		defer stop()
		if err := w.budget.Acquire(ctx, size); err != nil {
			return fmt.Errorf("indexer: waiting for room in memory: %w", context.Cause(ctx))
		}
	}
	w.countBuffered(size)
	return nil
}

func (w *Writer) release(size int64) {
	if size > 0 {
		w.countBuffered(-size) // first, so that the count never exceeds the limit
		w.budget.Release(size)
	}
}

func (w *Writer) countBuffered(n int64) {
	w.opts.Hooks.Buffered(BufferedInfo{w.buffered.Add(n), n})
}

// keys returns an encoder of row keys for each document.
func (w *Writer) keys() ([]*eventkey.Encoder, error) {
	var keys []*eventkey.Encoder
	for _, d := range w.docs {
		k, err := eventkey.New(d.Key, w.opts.Schema)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// queue passes ops to their lanes, in order: all ops of one document go through one lane.
func (w *Writer) queue(ops []op) {
	deadline := time.Now().Add(w.opts.RetryFor)
	for i := range ops {
		ops[i].deadline = deadline
	}
	for i, l := range w.lanes {
		l.put(ops, i, len(w.lanes))
	}
}

// same reports whether two ops are of one document.
func (o *op) same(p *op) bool { return o.hash == p.hash && o.doc == p.doc && bytes.Equal(o.id, p.id) }
