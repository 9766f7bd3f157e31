package guard

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// Connections limits the number of a server's connections. When there is one too many it closes another, at a cost that does not grow with
// their number: first the one that has been idle for longest, then the one that has been sending its request's header for longest, and then
// the one whose request has been handled for longest. So a new client is always served, idle connections make room, and clients that never
// finish a header take no place from those that have.
type Connections struct {
	most int

	mu   sync.Mutex
	open map[net.Conn]*standing
	by   [stages]list.List // by stage, the oldest first
}

// stage is what a connection is doing. The lowest is closed first.
type stage int

const (
	idle    stage = iota // between two requests
	asking               // the request has not arrived
	working              // the request has arrived and is not answered
	stages
)

// standing is one connection. The mutex of the Connections guards it.
type standing struct {
	conn  net.Conn
	stage stage
	at    *list.Element
}

// NewConnections returns a Connections that allows at most the given number.
func NewConnections(most int) *Connections {
	return &Connections{most: most, open: map[net.Conn]*standing{}}
}

type connKey struct{}

// Context is the server's ConnContext. Only Begun needs it.
func (c *Connections) Context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// Begun records that the request with this context has arrived, up to its body.
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
		s = &standing{conn: conn, stage: asking}
		s.at = c.by[asking].PushBack(s)
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
	c.by[s.stage].Remove(s.at)
	s.stage, s.at = to, c.by[to].PushBack(s)
}

func (c *Connections) forgetLocked(s *standing) {
	c.by[s.stage].Remove(s.at)
	delete(c.open, s.conn)
}

// oldestLocked removes the next connection to close and returns it.
func (c *Connections) oldestLocked() net.Conn {
	for i := range c.by {
		if first := c.by[i].Front(); first != nil {
			s := first.Value.(*standing)
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
