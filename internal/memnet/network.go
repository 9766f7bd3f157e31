package memnet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Network is an in-memory network. Servers listen on it, hosts dial over it, and both can have faults.
type Network struct {
	mu    sync.Mutex
	rng   *rand.Rand
	ports map[int]*listener
	next  int
	links map[*link]struct{}
}

// New returns a network; the seed determines its delays.
func New(seed uint64) *Network {
	return &Network{rng: rand.New(rand.NewPCG(seed, 1)), ports: map[int]*listener{}, next: 20_000, links: map[*link]struct{}{}}
}

// Place is an end of links, a server or a process, with the faults of its network.
type Place struct {
	name  string
	net   *Network
	aside bool // a client that belongs to the test: faults of servers do not affect it

	// The network's mutex guards these fields.
	down    bool // dials fail
	frozen  bool // nothing passes
	delay   time.Duration
	rate    int     // bytes per second; 0: unlimited
	repeats float64 // the share of its answers that arrive twice
	loses   int     // number of its answers to lose, each with its link
}

// NewPlace returns an end without faults.
func (n *Network) NewPlace(name string) *Place { return &Place{name: name, net: n} }

// NewAside returns an end for the test's own clients: faults do not affect it.
func (n *Network) NewAside(name string) *Place { return &Place{name: name, net: n, aside: true} }

// listener is one port of a server.
type listener struct {
	place *Place
	port  int
	conns chan net.Conn
	done  chan struct{}
	close func()
}

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

func portAddress(port int) address { return address("127.0.0.1:" + strconv.Itoa(port)) }

func portOf(addr string) (int, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}

// Listen opens a port of the place; port 0 means a free one.
func (p *Place) Listen(_, addr string) (net.Listener, error) {
	port, err := portOf(addr)
	if err != nil {
		return nil, err
	}
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if port == 0 {
		n.next++
		port = n.next
	}
	if n.ports[port] != nil {
		return nil, fmt.Errorf("listen on port %d: %w", port, syscall.EADDRINUSE)
	}
	l := &listener{place: p, port: port, conns: make(chan net.Conn, 1024), done: make(chan struct{})}
	l.close = sync.OnceFunc(func() {
		n.mu.Lock()
		delete(n.ports, port)
		n.mu.Unlock()
		close(l.done)
	})
	n.ports[port] = l
	return l, nil
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { l.close(); return nil }
func (l *listener) Addr() net.Addr { return portAddress(l.port) }

// Dial connects a place to the server that listens on an address. The system of a frozen server still accepts connections; the dial of a
// frozen client waits.
func (p *Place) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	port, err := portOf(addr)
	if err != nil {
		return nil, err
	}
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.ports[port]
	if p.down || l == nil || l.place.down && !p.aside {
		return nil, fmt.Errorf("dial %s: %w", addr, syscall.ECONNREFUSED)
	}
	k := newLink(n, p, l.place)
	select {
	case l.conns <- &end{link: k, in: k.up, out: k.down, server: true, local: portAddress(port), remote: "127.0.0.1:1"}:
	default:
		return nil, fmt.Errorf("dial %s: the listener's queue is full: %w", addr, syscall.ECONNREFUSED)
	}
	n.links[k] = struct{}{}
	return &end{link: k, in: k.down, out: k.up, local: "127.0.0.1:1", remote: portAddress(port)}, ctx.Err()
}

// set changes a place and makes all readers of its links check again.
func (p *Place) set(change func()) {
	p.net.mu.Lock()
	change()
	var touched []*link
	for k := range p.net.links {
		if k.client == p || k.server == p {
			touched = append(touched, k)
		}
	}
	p.net.mu.Unlock()
	for _, k := range touched {
		k.up.look()
		k.down.look()
	}
}

// Freeze stops all bytes from and to the place until Thaw.
func (p *Place) Freeze() { p.set(func() { p.frozen = true }) }

// Thaw ends a freeze.
func (p *Place) Thaw() { p.set(func() { p.frozen = false }) }

// Delay delays everything from and to the place by up to most.
func (p *Place) Delay(most time.Duration) { p.set(func() { p.delay = most }) }

// Narrow limits each direction of each link to a number of bytes per second; 0 means no limit.
func (p *Place) Narrow(rate int) { p.set(func() { p.rate = rate }) }

// Repeat makes a share of the server's answers arrive twice.
func (p *Place) Repeat(part float64) { p.set(func() { p.repeats = part }) }

// Lose cuts the links of the server's next answers instead of sending the answers.
func (p *Place) Lose(answers int) { p.set(func() { p.loses += answers }) }

// Heal removes all faults; links that were cut stay cut.
func (p *Place) Heal() {
	p.set(func() { p.down, p.frozen, p.delay, p.rate, p.repeats, p.loses = false, false, 0, 0, 0, 0 })
}

// Down refuses dials from and to the place and cuts its links.
func (p *Place) Down() {
	p.set(func() { p.down = true })
	p.Cut()
}

// Up lets dials through again.
func (p *Place) Up() { p.set(func() { p.down = false }) }

// Cut resets all links of the place. Bytes in flight are lost.
func (p *Place) Cut() {
	p.net.mu.Lock()
	var all []*link
	for k := range p.net.links {
		if k.client == p || k.server == p && !k.client.aside {
			all = append(all, k)
		}
	}
	p.net.mu.Unlock()
	for _, k := range all {
		k.cut()
	}
}
