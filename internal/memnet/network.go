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

// Network is a network in memory. Servers listen on it, hosts dial over it, and faults are set on either.
type Network struct {
	mu    sync.Mutex
	rng   *rand.Rand
	ports map[int]*listener
	next  int
	links map[*link]struct{}
}

// New makes a network; the seed draws its delays.
func New(seed uint64) *Network {
	return &Network{rng: rand.New(rand.NewPCG(seed, 1)), ports: map[int]*listener{}, next: 20_000, links: map[*link]struct{}{}}
}

// Place is an end of links: a server or a process, and what is wrong with its network.
type Place struct {
	name  string
	net   *Network
	aside bool // a client that belongs to the test: no fault of a server's reaches it

	// The network's mutex guards these.
	down    bool // dials fail
	frozen  bool // nothing passes
	delay   time.Duration
	rate    int     // bytes a second; 0: as they come
	repeats float64 // of its answers, the part that comes twice
	loses   int     // so many of its answers are lost, each with its link
}

// NewPlace makes an end that all is well with.
func (n *Network) NewPlace(name string) *Place { return &Place{name: name, net: n} }

// NewAside makes an end for the test's own clients: no fault reaches it.
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

// Dial connects a place with the server that listens on an address. A frozen server's system accepts connections still; a
// frozen client's dial waits.
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

// set changes a place and has all readers of its links look again.
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

// Freeze stops all bytes from and to the place; Thaw lets what waits go on.
func (p *Place) Freeze() { p.set(func() { p.frozen = true }) }

// Thaw ends a freeze.
func (p *Place) Thaw() { p.set(func() { p.frozen = false }) }

// Delay puts up to so much before the arrival of everything from and to the place.
func (p *Place) Delay(most time.Duration) { p.set(func() { p.delay = most }) }

// Narrow lets so many bytes a second pass on each link each way; 0 means as they come.
func (p *Place) Narrow(rate int) { p.set(func() { p.rate = rate }) }

// Repeat has a part of the server's answers come twice.
func (p *Place) Repeat(part float64) { p.set(func() { p.repeats = part }) }

// Lose cuts the links of the server's next answers, instead of those answers.
func (p *Place) Lose(answers int) { p.set(func() { p.loses += answers }) }

// Heal makes all well again, but for links that are cut.
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

// Cut resets all links of the place. What was on its way is lost.
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
