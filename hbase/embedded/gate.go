package embedded

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// gate stands between a node and the bytes of its connections: open, shut while the node is frozen, or narrow.
type gate struct{ state atomic.Pointer[gateState] } // nil: open

type gateState struct {
	thawed chan struct{} // not nil: shut until it is closed
	rate   int           // bytes a second of each connection, each way; 0: no limit
}

// set gives the gate a new state; nil opens it. Those that wait for the old one look again.
func (g *gate) set(s *gateState) {
	if old := g.state.Swap(s); old != nil && old.thawed != nil {
		close(old.thawed)
	}
}

// pass waits while the gate is shut and returns its rate.
func (g *gate) pass(ctx context.Context) (rate int, err error) {
	for {
		s := g.state.Load()
		if s == nil {
			return 0, nil
		}
		if s.thawed == nil {
			return s.rate, nil
		}
		select {
		case <-s.thawed:
		case <-ctx.Done():
			return 0, net.ErrClosed
		}
	}
}

// gatedConn is a connection behind its node's gate.
type gatedConn struct {
	net.Conn
	node *node
}

// Read holds back what came while the gate was shut: a frozen process has not read it.
func (c gatedConn) Read(b []byte) (int, error) {
	rate, err := c.node.gate.pass(c.node.ctx)
	if err != nil {
		return 0, err
	}
	if rate > 0 {
		b = b[:min(len(b), portion(rate))]
	}
	n, err := c.Conn.Read(b)
	if err != nil {
		return n, err
	}
	if rate, err = c.node.gate.pass(c.node.ctx); err != nil {
		return 0, err
	}
	return n, c.trickle(n, rate)
}

func (c gatedConn) Write(b []byte) (written int, err error) {
	for {
		rate, err := c.node.gate.pass(c.node.ctx)
		if err != nil {
			return written, err
		}
		part := b[written:]
		if rate > 0 {
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
		if err := c.trickle(n, rate); err != nil {
			return written, err
		}
	}
}

// CloseWrite says that nothing more comes from this side.
func (c gatedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// portion is what passes a narrow gate at once: a tenth of a second's bytes.
func portion(rate int) int { return max(1, rate/10) }

// trickle waits as long as n bytes take.
func (c gatedConn) trickle(n, rate int) error {
	if rate == 0 {
		return nil
	}
	t := time.NewTimer(time.Duration(n) * time.Second / time.Duration(rate))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-c.node.ctx.Done():
		return net.ErrClosed
	}
}
