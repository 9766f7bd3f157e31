package control

import (
	"context"
	"sync"
)

// together writes what concurrent callers have in common requests: what arrives during a write waits for it, and is written by the next
// one. A thousand partitions that are marked at a time thereby cost a few requests instead of three each.
type together[T any] struct {
	turn chan struct{} // holds an element during a write

	mu   sync.Mutex // guards next
	next *round[T]  // what the next write has; nil: nobody waits
}

// round is what one write has. Its fields but all belong to its first caller until done is closed.
type round[T any] struct {
	all  []T
	done chan struct{}
	err  error
	left bool // the first caller left, so the others have to write it
}

func newTogether[T any]() *together[T] { return &together[T]{turn: make(chan struct{}, 1)} }

// do returns once items are written, by this call of write or by that of another caller, or with its error. If ctx ends before, they may be
// written all the same.
func (t *together[T]) do(ctx context.Context, items []T, write func(context.Context, []T) error) error {
	for {
		r, first := t.join(items)
		if first {
			t.lead(ctx, r, write)
			return r.err
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !r.left {
			return r.err
		}
	}
}

// join adds items to the next round, and reports whether they are its first.
func (t *together[T]) join(items []T) (r *round[T], first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first = t.next == nil; first {
		t.next = &round[T]{done: make(chan struct{})}
	}
	t.next.all = append(t.next.all, items...)
	return t.next, first
}

// lead writes a round once the one before it is written.
func (t *together[T]) lead(ctx context.Context, r *round[T], write func(context.Context, []T) error) {
	defer close(r.done)
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
		t.begin()
		r.err = write(ctx, r.all)
	case <-ctx.Done():
		t.begin()
		r.err = ctx.Err()
	}
	r.left = r.err != nil && ctx.Err() != nil
}

// begin lets nobody join the round any more.
func (t *together[T]) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = nil
}
