package embedded

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// gate controls the bytes of a node's connections: it is open, shut while the node is frozen, or narrow.
type gate struct{ state atomic.Pointer[gateState] } // nil: open

type gateState struct {
	over chan struct{} // closed when the gate gets another state
	shut bool
	rate int // bytes per second of each connection, each way; 0: no limit
}

// limit returns the bytes per second; 0: no limit.
func (s *gateState) limit() int {
	if s == nil {
		return 0
	}
	return s.rate
}

// set gives the gate a new state; nil opens it. Goroutines that wait on the old state check again.
func (g *gate) set(s *gateState) {
	if s != nil {
		s.over = make(chan struct{})
	}
	if old := g.state.Swap(s); old != nil {
		close(old.over)
	}
}

// pass waits while the gate is shut and returns its state.
func (g *gate) pass(ctx context.Context) (*gateState, error) {
	for {
		s := g.state.Load()
		if s == nil || !s.shut {
			return s, nil
		}
		select {
		case <-s.over:
		case <-ctx.Done():
			return nil, net.ErrClosed
		}
	}
}

// gatedConn is a connection behind its node's gate.
type gatedConn struct {
	net.Conn
	node *node
}

// Read holds back bytes that arrived while the gate was shut: a frozen process has not read them.
func (c gatedConn) Read(b []byte) (int, error) {
	s, err := c.node.gate.pass(c.node.ctx)
	if err != nil {
		return 0, err
	}
	if rate := s.limit(); rate > 0 {
		b = b[:min(len(b), portion(rate))]
	}
	n, err := c.Conn.Read(b)
	if err != nil {
		return n, err
	}
	if s, err = c.node.gate.pass(c.node.ctx); err != nil {
		return 0, err
	}
	return n, c.trickle(n, s)
}

func (c gatedConn) Write(b []byte) (written int, err error) {
	for {
		s, err := c.node.gate.pass(c.node.ctx)
		if err != nil {
			return written, err
		}
		part := b[written:]
		if rate := s.limit(); rate > 0 {
			part = part[:min(len(part), portion(rate))]
			if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
				return written, err
			}
		}
		n, err := c.Conn.Write(part)
		written += n
		if err != nil || written == len(b) {
			return written, err
		}
		if err := c.trickle(n, s); err != nil {
			return written, err
		}
	}
}

// CloseWrite closes this side for writing.
func (c gatedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// portion returns the number of bytes that pass a narrow gate at once: a tenth of a second's worth.
func portion(rate int) int { return max(1, rate/10) }

// trickle waits as long as n bytes take at the rate of a state, but no longer than that state lasts: a frame that arrives whole at a gate
// that has just become narrow would otherwise be held back long after it is open again.
func (c gatedConn) trickle(n int, s *gateState) error {
	rate := s.limit()
	if rate == 0 {
		return nil
	}
	t := time.NewTimer(time.Duration(n) * time.Second / time.Duration(rate))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-s.over:
		_, err := c.node.gate.pass(c.node.ctx)
		return err
	case <-c.node.ctx.Done():
		return net.ErrClosed
	}
}

// share limits what the answers of one connection may hold to 1/share of Options.MaxHeld. Beyond that its calls stop growing, and new ones
// wait.
const share = 8

// handlers is the number of scans read at once; others wait. Each scan has its own buffers, and clients may send thousands.
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

// counted is the step, in bytes, in which an answer is counted.
const counted = 32 << 10

// maxConns is the maximum number of connections of a server. One more cuts off the connection whose last answer is the oldest.
const maxConns = 1024

// room counts the bytes of a connection's answers, from their first cell until the client has read them.
type room struct {
	mu    sync.Mutex
	freed sync.Cond
	held  int
	limit int
	gone  bool // the connection is cut off: its answers stop growing
}

func newRoom(limit int) *room {
	r := &room{limit: limit}
	r.freed.L = &r.mu
	return r
}

// add adds n bytes, which may be negative.
func (r *room) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held += n; r.held <= r.limit {
		r.freed.Broadcast()
	}
}

// full reports whether the client must read before it gets more.
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

// wait blocks until the client has read enough or is cut off.
func (r *room) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.held > r.limit && !r.gone {
		r.freed.Wait()
	}
}

// grow adds n bytes to the call's answer and counts them in steps of at least counted bytes.
func (k *call) grow(n int) {
	if k.fresh += n; k.fresh >= counted {
		k.hold(k.fresh)
		k.fresh = 0
		k.full = k.conn.room.full()
	}
}

// hold counts n more bytes of the call's answer, against its connection and against the limit of all connections.
func (k *call) hold(n int) {
	k.held += n
	k.conn.room.add(n)
	if err := k.conn.member.Hold(n); err != nil {
		k.conn.room.leave()
	}
}

// release uncounts the call's answer.
func (k *call) release() {
	if k.held != 0 {
		k.hold(-k.held)
	}
}
