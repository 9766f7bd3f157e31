package ingest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kfake"
)

// memoryNet is a network of pipes: what Kafka listens on and is dialled through inside a synctest bubble.
type memoryNet struct {
	mu        sync.Mutex
	listeners map[string]*memoryListener
}

type memoryListener struct {
	addr  memoryAddr
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

type memoryAddr string

func (memoryAddr) Network() string  { return "tcp" }
func (a memoryAddr) String() string { return string(a) }

func (n *memoryNet) listen(string, string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners = map[string]*memoryListener{}
	}
	l := &memoryListener{addr: memoryAddr(fmt.Sprintf("127.0.0.1:%d", 10_000+len(n.listeners))), conns: make(chan net.Conn), done: make(chan struct{})}
	n.listeners[l.addr.String()] = l
	return l, nil
}

func (n *memoryNet) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("nobody listens on %s", address)
	}
	ours, theirs := net.Pipe()
	select {
	case l.conns <- addressed{theirs, l.addr}:
		return addressed{ours, l.addr}, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// addressed is a pipe with an address, which kafka-go asks for.
type addressed struct {
	net.Conn
	addr memoryAddr
}

func (a addressed) RemoteAddr() net.Addr { return a.addr }
func (a addressed) LocalAddr() net.Addr  { return a.addr }

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *memoryListener) Addr() net.Addr { return l.addr }

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// unless dials, except while down.
func unless(down *atomic.Bool, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if down.Load() {
			return nil, errors.New("connection refused")
		}
		return dial(ctx, network, address)
	}
}

// inBubble runs a test in a synctest bubble with a broker over memoryNet.
func inBubble(t *testing.T, partitions int, test func(t *testing.T, b *broker)) {
	synctest.Test(t, func(t *testing.T) {
		n := &memoryNet{}
		b := &broker{t: t, dial: n.dial, sent: map[int]int64{}}
		b.begin(kfake.SeedTopics(int32(partitions), topic), kfake.ListenFn(n.listen))
		b.client = b.newClient()
		test(t, b)
	})
}
