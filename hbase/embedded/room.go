package embedded

import (
	"context"
	"sync"
)

// share: the answers of one connection may hold 1/share of Options.MaxHeld. Beyond that its calls stop where they are, and new ones wait.
const share = 8

// handlers is how many scans are read at once; others wait. Each has buffers of its own, and clients may send thousands.
const handlers = 32

// gauge is a semaphore.
type gauge chan struct{}

func (g gauge) enter(ctx context.Context) (leave func(), err error) {
	select {
	case g <- struct{}{}:
		return func() { <-g }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// counted is the size of the steps in which an answer is counted.
const counted = 32 << 10

// maxConns is how many connections a server has. For one more, the one that was answered the longest ago is cut off.
const maxConns = 1024

// room is what a connection's answers hold, from their first cell until the client has them.
type room struct {
	mu    sync.Mutex
	freed sync.Cond
	held  int
	limit int
	gone  bool // the connection is cut off: no answer of it grows any more
}

func newRoom(limit int) *room {
	r := &room{limit: limit}
	r.freed.L = &r.mu
	return r
}

// add counts n bytes more, or fewer.
func (r *room) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held += n; r.held <= r.limit {
		r.freed.Broadcast()
	}
}

// full reports whether the client has to read before it gets more.
func (r *room) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone || r.held > r.limit
}

// leave marks the connection as cut off.
func (r *room) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	r.freed.Broadcast()
}

// wait waits until the client has read enough, or is cut off.
func (r *room) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.held > r.limit && !r.gone {
		r.freed.Wait()
	}
}

// grow notes n bytes more of the call's answer, and counts them a portion at a time.
func (k *call) grow(n int) {
	if k.fresh += n; k.fresh >= counted {
		k.hold(k.fresh)
		k.fresh = 0
		k.full = k.conn.room.full()
	}
}

// hold counts n bytes more of the call's answer, for its connection and for all.
func (k *call) hold(n int) {
	k.held += n
	k.conn.room.add(n)
	if err := k.conn.member.Hold(n); err != nil {
		k.conn.room.leave()
	}
}

// release counts the call's answer off.
func (k *call) release() {
	if k.held != 0 {
		k.hold(-k.held)
	}
}
