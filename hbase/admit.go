package hbase

import (
	"context"
	"fmt"
	"slices"
)

// admit queues a flight's mutations as soon as there is room for them, in the byte bound and in each of their lanes, and
// tells how many bytes they take. While it waits it holds none of that room, and nothing is held back.
func (w *writer) admit(ctx context.Context, f *Flight, es []entry) (size int, err error) {
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
		if err := w.await(ctx, room); err != nil {
			w.mu.Lock()
			w.claim(f, nil)
			w.mu.Unlock()
			return 0, fmt.Errorf("waiting for room in the lane of a region: %w", err)
		}
	}
}

// reserve waits for room in the byte bound.
func (w *writer) reserve(ctx context.Context, f *Flight, size int) error {
	weight := min(size, w.c.opts.MaxBufferedBytes)
	if !w.budget.TryAcquire(int64(weight)) {
		defer w.holdNothing()()
		ctx, cancel := w.c.joined(ctx)
		defer cancel()
		if err := w.budget.Acquire(ctx, int64(weight)); err != nil {
			return fmt.Errorf("waiting for room for %d bytes: %w", size, context.Cause(ctx))
		}
	}
	f.excess = size - weight
	w.account(size)
	return nil
}

func (w *writer) unreserve(f *Flight, size int) {
	w.account(-size)
	w.budget.Release(int64(size - f.excess))
}

// await waits until a lane that was full may take more.
func (w *writer) await(ctx context.Context, room <-chan struct{}) error {
	defer w.holdNothing()()
	ctx, cancel := w.c.joined(ctx)
	defer cancel()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// laneBytes is what one lane may hold: a quarter of the byte bound, so that a region that does not move leaves the other
// tables and pipelines their room. A batch with more than that for one lane goes when the lane is empty.
func (w *writer) laneBytes() int { return w.c.opts.MaxBufferedBytes / 4 }

// enqueue deals a flight's entries out to their lanes and lets servers begin when all are there, unless the mutator lets them
// wait. If a lane is full it does nothing but give what to wait for.
func (w *writer) enqueue(f *Flight, es []entry) (room <-chan struct{}, err error) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil, ErrClosed
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
		switch free := l.queue.len() == 0 || l.holder != nil; {
		case !free: // a call that is out, or a pause, will wake it
		case hold:
			w.hold(l, m, e.size())
		default:
			l.holder = nil
			w.touched = append(w.touched, l)
		}
		l.push(e)
	}
	w.ease(f)
	w.wake(w.touched...)
	clear(w.touched)
	w.touched = w.touched[:0]
	flushed := 0
	if m.bytes >= m.opts.WriteBuffer {
		flushed = w.release(m)
	}
	w.mu.Unlock()
	m.announce(FlushInfo{FlushFull, flushed})
	return nil, nil
}

// claim has a flight wait for room in the lane, or, without one, in none any more. Who comes later does not overtake it there, else
// a large batch would wait for as long as small ones come. A flight claims one lane at a time, and waits for earlier ones only: so
// the earliest of all waits for nobody. w.mu is held.
func (w *writer) claim(f *Flight, l *lane) (room <-chan struct{}) {
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

// claimed reports whether somebody waits for the lane since before f came.
func (l *lane) claimed(f *Flight) bool {
	return slices.ContainsFunc(l.claims, func(o *Flight) bool { return o.turn < f.turn })
}

// fullLane returns a lane that has no room for what is to come, or nil. w.mu is held.
func (w *writer) fullLane(f *Flight, ls *lanes, es []entry) (full *lane) {
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
