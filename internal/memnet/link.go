package memnet

import (
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// link is a connection: two pipes between two places.
type link struct {
	net            *Network
	client, server *Place
	up, down       *pipe // to the server, to the client

	closes atomic.Int32 // number of its two ends that are closed
}

func newLink(n *Network, client, server *Place) *link {
	k := &link{net: n, client: client, server: server}
	k.up, k.down = newPipe(k), newPipe(k)
	return k
}

func (k *link) stopped() bool {
	k.net.mu.Lock()
	defer k.net.mu.Unlock()
	return k.client.frozen || k.server.frozen && !k.client.aside
}

// cut resets both directions.
func (k *link) cut() {
	k.forget()
	k.up.cut()
	k.down.cut()
}

func (k *link) forget() {
	k.net.mu.Lock()
	defer k.net.mu.Unlock()
	delete(k.net.links, k)
}

// lag returns a random delay for n bytes.
func (k *link) lag(n int) time.Duration {
	k.net.mu.Lock()
	defer k.net.mu.Unlock()
	lag := time.Duration(0)
	if k.client.aside {
		return lag
	}
	for _, p := range []*Place{k.client, k.server} {
		if p.delay > 0 {
			lag += time.Duration(k.net.rng.Int64N(int64(p.delay)))
		}
		if p.rate > 0 {
			lag += time.Duration(n) * time.Second / time.Duration(p.rate)
		}
	}
	return lag
}

// fate decides randomly whether an answer arrives twice, or is lost with its link.
func (k *link) fate() (twice, lost bool) {
	k.net.mu.Lock()
	defer k.net.mu.Unlock()
	if k.client.aside {
		return false, false
	}
	if k.server.loses > 0 {
		k.server.loses--
		return false, true
	}
	return k.server.repeats > 0 && k.net.rng.Float64() < k.server.repeats, false
}

// answer sends the server's bytes. Each call is one answer, as the servers write them.
func (k *link) answer(b []byte) error {
	twice, lost := k.fate()
	if lost {
		k.cut()
		return syscall.ECONNRESET
	}
	lag := k.lag(len(b))
	k.down.push(b, lag)
	if twice {
		k.down.push(b, lag)
	}
	return nil
}

// end is one side of a link.
type end struct {
	link          *link
	in, out       *pipe
	server        bool
	local, remote address
	closed        atomic.Bool
}

func (e *end) Read(b []byte) (int, error) {
	if e.closed.Load() {
		return 0, net.ErrClosed
	}
	n, err := e.in.read(b)
	if err != nil && e.closed.Load() {
		err = net.ErrClosed
	}
	return n, err
}

func (e *end) Write(b []byte) (int, error) {
	if e.closed.Load() {
		return 0, net.ErrClosed
	}
	if e.out.broken() {
		return 0, syscall.ECONNRESET
	}
	if e.server {
		if err := e.link.answer(b); err != nil {
			return 0, err
		}
	} else {
		e.out.push(b, e.link.lag(len(b)))
	}
	return len(b), nil
}

// Close ends both directions: the other side reads what was sent, and then EOF.
func (e *end) Close() error {
	if e.closed.Swap(true) {
		return nil
	}
	e.in.cut()
	e.out.end()
	if e.link.closes.Add(1) == 2 {
		e.link.forget()
	}
	return nil
}

func (e *end) LocalAddr() net.Addr  { return e.local }
func (e *end) RemoteAddr() net.Addr { return e.remote }

func (e *end) SetDeadline(t time.Time) error {
	e.in.setDeadline(t)
	return nil
}
func (e *end) SetReadDeadline(t time.Time) error { return e.SetDeadline(t) }
func (e *end) SetWriteDeadline(time.Time) error  { return nil } // a write never waits
