package guard

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Connections limits the number of a server's connections. When there is one too many it closes another, at a cost that does not grow with
// their number: first the one that has been idle for longest, then, of the address with the most requests that have not arrived, the one
// that has been sending its own for longest, and then the one whose request has been handled for longest. So a new client is always served,
// idle connections make room, and clients that never finish a request take no place from those that have, nor from those that have just
// come.
type Connections struct {
	most int

	mu     sync.Mutex
	open   map[net.Conn]*standing
	asking askers
	by     [stages]list.List // by stage, the oldest first; none for asking
}

// stage is what a connection is doing. The lowest is closed first.
type stage int

const (
	idle    stage = iota // between two requests
	asking               // the request has not arrived, with its body if it has one
	working              // the request has arrived and is not answered
	stages
)

// standing is one connection. The mutex of the Connections guards it.
type standing struct {
	conn  net.Conn
	stage stage
	at    *list.Element
	peer  *peer // while it is asking
}

// NewConnections returns a Connections that allows at most the given number.
func NewConnections(most int) *Connections {
	return &Connections{most: most, open: map[net.Conn]*standing{}, asking: askers{peers: map[netip.Prefix]*peer{}}}
}

type connKey struct{}

// Context is the server's ConnContext. Only Begun needs it.
func (c *Connections) Context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// Begun records that the request with this context has arrived.
func (c *Connections) Begun(ctx context.Context) {
	conn, ok := ctx.Value(connKey{}).(net.Conn)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.open[conn]; s != nil { // otherwise it was closed here
		c.moveLocked(s, working)
	}
}

// Changed is the server's ConnState.
func (c *Connections) Changed(conn net.Conn, state http.ConnState) {
	if surplus := c.changed(conn, state); surplus != nil {
		cut(surplus) // nothing was sent that could be lost
	}
}

// changed records a change and returns the connection to close, if any.
func (c *Connections) changed(conn net.Conn, state http.ConnState) (surplus net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.open[conn]
	switch {
	case state == http.StateNew:
		if len(c.open) == c.most {
			surplus = c.oldestLocked()
		}
		s = &standing{conn: conn}
		c.enterLocked(s, asking)
		c.open[conn] = s
	case s == nil: // closed here; its server has yet to notice
	case state == http.StateClosed || state == http.StateHijacked:
		c.forgetLocked(s)
	case state == http.StateIdle:
		c.moveLocked(s, idle)
	case s.stage == idle:
		c.moveLocked(s, asking)
	}
	return surplus
}

func (c *Connections) moveLocked(s *standing, to stage) {
	c.leaveLocked(s)
	c.enterLocked(s, to)
}

func (c *Connections) enterLocked(s *standing, to stage) {
	if s.stage = to; to == asking {
		c.asking.add(s)
		return
	}
	s.at = c.by[to].PushBack(s)
}

func (c *Connections) leaveLocked(s *standing) {
	if s.stage == asking {
		c.asking.remove(s)
		return
	}
	c.by[s.stage].Remove(s.at)
}

func (c *Connections) forgetLocked(s *standing) {
	c.leaveLocked(s)
	delete(c.open, s.conn)
}

// oldestLocked removes the next connection to close and returns it.
func (c *Connections) oldestLocked() net.Conn {
	for i := range stages {
		var s *standing
		if i == asking {
			s = c.asking.next()
		} else if first := c.by[i].Front(); first != nil {
			s = first.Value.(*standing)
		}
		if s != nil {
			c.forgetLocked(s)
			return s.conn
		}
	}
	return nil
}

// cut closes a connection at once: a proper TLS close would wait for a peer that reads nothing.
func cut(conn net.Conn) {
	if encrypted, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = encrypted.NetConn()
	}
	_ = conn.Close()
}
