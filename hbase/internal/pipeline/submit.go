package pipeline

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"brine/hbase/internal/remote"
)

// Submit queues the mutations of a batch in order in the lanes of their regions and returns their flight. It blocks only while the client's
// byte bound (Options.MaxBufferedBytes) is used up, and then sends what is held back. A batch larger than the bound is sent when nothing
// else is buffered. Bytes return to the bound with each mutation's result, although the batch's buffer lives as long as its flight. If ctx
// ends while Submit blocks, every mutation fails as Transient, unsent.
func (m *Mutator) Submit(ctx context.Context, b *Batch) *Flight {
	f := newFlight(ctx, m, b, time.Now())
	w := m.w
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

// entryLists are lists of a batch's mutations, used until they are in their lanes.
var entryLists = sync.Pool{New: func() any { return new([]entry) }}

func putEntries(list *[]entry) {
	clear(*list)
	entryLists.Put(list)
}

// check separates the mutations that can never be written. It appends the good ones to dst.
func (w *Writer) check(dst []entry, f *Flight) (good []entry, bad []MutationError) {
	for i := range f.batch.Len() {
		if err := f.batch.check(i, w.opts.MaxCellBytes); err != nil {
			bad = append(bad, MutationError{Index: i, Kind: remote.BadRow, Err: err})
			continue
		}
		dst = append(dst, entry{flight: f, index: int32(i)})
	}
	return dst, bad
}

// admit queues a flight's mutations as soon as there is room for them in the byte bound and in each of their lanes, and returns the number
// of their bytes. While it waits, it holds none of that room, and nothing lingers.
func (w *Writer) admit(ctx context.Context, f *Flight, es []entry) (size int, err error) {
	for _, e := range es {
		size += e.size()
	}
	for {
		if err := w.reserve(ctx, f, size); err != nil {
			return 0, err
		}
		room, err := w.enqueue(f, es)
		if err == nil && room == nil {
			return size, nil
		}
		w.unreserve(f, size)
		if err != nil {
			return 0, err
		}
		if err := w.awaitRoom(ctx, room); err != nil {
			w.mu.Lock()
			w.claim(f, nil)
			w.mu.Unlock()
			return 0, fmt.Errorf("waiting for room in the lane of a region: %w", err)
		}
	}
}

// reserve waits for room in the byte bound.
func (w *Writer) reserve(ctx context.Context, f *Flight, size int) error {
	weight := min(size, w.opts.MaxBufferedBytes)
	if !w.budget.TryAcquire(int64(weight)) {
		defer w.suspendLinger()()
		defer w.blockedSince(f.ctx, time.Now())
		ctx, cancel := remote.Join(ctx, w.env.Ctx)
		defer cancel()
		if err := w.budget.Acquire(ctx, int64(weight)); err != nil {
			return fmt.Errorf("waiting for room for %d bytes: %w", size, context.Cause(ctx))
		}
	}
	f.excess = size - weight
	w.account(size)
	return nil
}

// blockedSince reports the end of a wait for room.
func (w *Writer) blockedSince(ctx context.Context, began time.Time) {
	w.hooks.Blocked(BlockedInfo{ctx, time.Since(began)})
}

func (w *Writer) unreserve(f *Flight, size int) {
	w.account(-size)
	w.budget.Release(int64(size - f.excess))
}

// awaitRoom waits until a full lane may accept more.
func (w *Writer) awaitRoom(ctx context.Context, room <-chan struct{}) error {
	defer w.suspendLinger()()
	defer w.blockedSince(ctx, time.Now())
	ctx, cancel := remote.Join(ctx, w.env.Ctx)
	defer cancel()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// enqueue deals a flight's entries out to their lanes. When all are queued, it schedules the lanes, unless the mutator holds them back. If
// a lane is full, enqueue only returns the channel to wait for.
func (w *Writer) enqueue(f *Flight, es []entry) (room <-chan struct{}, err error) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil, remote.ErrClosed
	}
	ls := w.tables[f.table]
	if ls == nil {
		ls = newLanes(f.table)
		w.tables[f.table] = ls
	}
	if f.turn == 0 {
		w.turns++
		f.turn = w.turns
	}
	full := w.fullLane(f, ls, es)
	if room = w.claim(f, full); room != nil {
		w.mu.Unlock()
		return room, nil
	}
	m := f.mutator
	hold := !m.opts.Autoflush && w.blocked == 0
	for _, e := range es {
		l := ls.of(e.row())
		switch free := l.state == lingering || l.state == idle && l.queue.len() == 0; {
		case !free: // an unanswered call or a pause will wake it
		case hold:
			w.linger(l, m, e.size())
		default:
			l.leave(lingering)
			w.touched = append(w.touched, l)
		}
		l.push(e)
	}
	w.stall(f)
	w.schedule(w.touched...)
	clear(w.touched)
	w.touched = w.touched[:0]
	flushed := 0
	if m.bytes >= m.opts.WriteBuffer {
		flushed = w.endLinger(m)
	}
	w.mu.Unlock()
	m.announce(FlushInfo{FlushFull, flushed})
	return nil, nil
}

// laneBytes returns the bound on one lane's bytes: a quarter of the byte bound, so that a stuck region leaves room for the other tables and
// pipelines. A batch with more than that for one lane is queued when the lane is empty.
func (w *Writer) laneBytes() int { return w.opts.MaxBufferedBytes / 4 }

// fullLane returns a lane that has no room for its new mutations, or nil. The caller holds w.mu.
func (w *Writer) fullLane(f *Flight, ls *lanes, es []entry) (full *lane) {
	most := w.laneBytes()
	if int(w.buffered.Load()) <= most && w.blocked == 0 {
		return nil // all lanes together hold less, and nobody waits
	}
	for _, e := range es {
		l := ls.of(e.row())
		if l.coming == 0 {
			w.touched = append(w.touched, l)
		}
		l.coming += e.size()
	}
	for _, l := range w.touched {
		if l.bytes > 0 && l.bytes+l.coming > most || l.claimed(f) {
			full = l
		}
		l.coming = 0
	}
	clear(w.touched)
	w.touched = w.touched[:0]
	return full
}

// claim makes a flight wait for room in lane l, or ends its claim if l is nil. Later callers do not overtake it there; otherwise a large
// batch would wait as long as small ones arrive. A flight claims one lane at a time and waits only for earlier flights, so the earliest of
// all waits for nobody. The caller holds w.mu.
func (w *Writer) claim(f *Flight, l *lane) (room <-chan struct{}) {
	if old := f.claims; old != nil && old != l {
		old.claims = slices.DeleteFunc(old.claims, func(o *Flight) bool { return o == f })
		old.makeRoom()
	}
	if l == nil {
		f.claims = nil
		return nil
	}
	if f.claims != l {
		l.claims = append(l.claims, f)
		f.claims = l
	}
	if l.room == nil {
		l.room = make(chan struct{})
	}
	return l.room
}

// claimed reports whether a flight that is earlier than f waits for the lane.
func (l *lane) claimed(f *Flight) bool {
	return slices.ContainsFunc(l.claims, func(o *Flight) bool { return o.turn < f.turn })
}
