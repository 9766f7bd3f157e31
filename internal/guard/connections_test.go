package guard_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"testing"

	"brine/internal/guard"
)

// peer is a connection that records that it was closed.
type peer struct {
	net.Conn
	name   string
	from   string // its address; empty: it has none
	closed *[]string
}

func (p *peer) RemoteAddr() net.Addr {
	if p.from == "" {
		return &net.UnixAddr{Name: "@", Net: "unix"}
	}
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(p.from), 4711))
}

func (p *peer) Close() error {
	*p.closed = append(*p.closed, p.name)
	return nil
}

// encrypted says goodbye to its peer when it is closed, which may block.
type encrypted struct {
	*peer
	t *testing.T
}

func (e *encrypted) NetConn() net.Conn { return e.peer }

func (e *encrypted) Close() error {
	e.t.Error("a surplus connection was taken leave of")
	return nil
}

// TestWhoMakesRoom: idle connections first, then those whose request has not arrived, then those being handled; within each stage the
// oldest, if all come from one address.
func TestWhoMakesRoom(t *testing.T) {
	var closed []string
	c := guard.NewConnections(7)
	conns := map[string]*encrypted{}
	for _, name := range []string{"working 1", "asking 1", "idle 1", "working 2", "asking 2", "idle 2", "closed"} {
		conns[name] = &encrypted{&peer{name: name, closed: &closed}, t}
		c.Changed(conns[name], http.StateNew)
	}
	for name, conn := range conns {
		if name != "asking 2" { // nothing of its request has arrived
			c.Changed(conn, http.StateActive)
		}
	}
	for _, name := range []string{"working 2", "working 1", "idle 2", "idle 1"} {
		c.Begun(c.Context(context.Background(), conns[name]))
	}
	c.Changed(conns["idle 2"], http.StateIdle)
	c.Changed(conns["idle 1"], http.StateIdle)
	c.Changed(conns["closed"], http.StateClosed)
	for range 8 {
		c.Changed(&peer{closed: &closed}, http.StateNew)
	}
	want := []string{"idle 2", "idle 1", "asking 1", "asking 2", "", "", ""}
	if !slices.Equal(closed, want) {
		t.Errorf("closed were %q, not %q", closed, want)
	}
	c.Changed(conns["idle 1"], http.StateActive) // its server has not noticed yet
	c.Begun(c.Context(context.Background(), conns["idle 1"]))
	c.Begun(context.Background())
	if len(closed) != len(want) {
		t.Errorf("closed were %q", closed)
	}
}

// Of the connections whose request has not arrived, one of the address that has the most makes room, whoever came first.
func TestTheAddressWithTheMostMakesRoom(t *testing.T) {
	for name, c := range map[string]struct{ from, want []string }{
		"one of each":             {[]string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"}, []string{"0"}},
		"two of one":              {[]string{"10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.3"}, []string{"1"}},
		"who came to two first":   {[]string{"10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.1", "10.0.0.3"}, []string{"1", "0"}},
		"a flood":                 {[]string{"10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.2", "10.0.0.2", "10.0.0.2"}, []string{"1", "2", "3"}},
		"a network of one":        {[]string{"10.0.0.1", "2001:db8::1", "2001:db8::2", "10.0.0.2"}, []string{"1"}},
		"IPv4 by IPv6":            {[]string{"10.0.0.1", "::ffff:10.0.0.2", "10.0.0.2", "::ffff:10.0.0.3"}, []string{"1"}},
		"two networks":            {[]string{"10.0.0.1", "2001:db8::1", "2001:db8:0:1::1", "10.0.0.2"}, []string{"0"}},
		"those without addresses": {[]string{"10.0.0.1", "", "", "10.0.0.2"}, []string{"1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var closed []string
			conns := guard.NewConnections(3)
			for i, from := range c.from {
				conns.Changed(&peer{name: strconv.Itoa(i), from: from, closed: &closed}, http.StateNew)
			}
			if !slices.Equal(closed, c.want) {
				t.Errorf("closed were %q, not %q", closed, c.want)
			}
		})
	}
}

// TestTricklingMakesNobodyYounger: sending a header byte by byte, or pipelining another request, does not reset a connection's age.
func TestTricklingMakesNobodyYounger(t *testing.T) {
	var closed []string
	c := guard.NewConnections(2)
	slow, other := &peer{name: "slow", closed: &closed}, &peer{name: "other", closed: &closed}
	c.Changed(slow, http.StateNew)
	c.Changed(other, http.StateNew)
	c.Changed(slow, http.StateActive)
	c.Changed(&peer{name: "third", closed: &closed}, http.StateNew)
	if !slices.Equal(closed, []string{"slow"}) {
		t.Errorf("closed were %q", closed)
	}
}

// TestAStormOfConnections: none of 100,000 connections that send nothing, from 200 addresses, takes the place of one that has sent a
// request, or of one from elsewhere that is about to send it.
func TestAStormOfConnections(t *testing.T) {
	var closed []string
	const most, attempts = 10_000, 100_000
	c := guard.NewConnections(most)
	asked, asks := &peer{name: "asked", closed: &closed}, &peer{name: "asks", from: "10.0.0.1", closed: &closed}
	c.Changed(asked, http.StateNew)
	c.Begun(c.Context(context.Background(), asked))
	c.Changed(asks, http.StateNew)
	for i := range attempts {
		c.Changed(&peer{from: fmt.Sprintf("10.0.1.%d", i%200), closed: &closed}, http.StateNew)
	}
	if len(closed) != attempts-most+2 || slices.Contains(closed, "asked") || slices.Contains(closed, "asks") {
		t.Errorf("%d were closed, among them who had asked: %v, and who was about to: %v", len(closed), slices.Contains(closed, "asked"),
			slices.Contains(closed, "asks"))
	}
}
