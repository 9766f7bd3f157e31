package guard

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// Connections keeps a server's connections few: a new one too many closes another, and what that costs does not grow with their number.
// First goes the one that has been idle for longest, then the one that has owed the whole of its request's header for longest, and then
// the one whose request has been worked on for longest. So a new client is always served, those who sit there make room, and who never ends
// a header takes no place from those who have asked.
type Connections struct {
	most int

	mu   sync.Mutex
	open map[net.Conn]*standing
	by   [stages]list.List // of standings, the oldest first
}

// stage is what a connection does. The least is closed first.
type stage int

const (
	idle    stage = iota // between two requests
	asking               // its request has not come
	working              // its request has come, and is not answered
	stages
)

// standing is one connection. It is guarded by the mutex of the Connections.
type standing struct {
	conn  net.Conn
	stage stage
	at    *list.Element
}

// NewConnections allows so many.
func NewConnections(most int) *Connections {
	return &Connections{most: most, open: map[net.Conn]*standing{}}
}

type connKey struct{}

// Context is the server's ConnContext. It is needed for Begun alone.
func (c *Connections) Context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// Begun notes that the request with this context has come, up to its body.
func (c *Connections) Begun(ctx context.Context) {
	conn, ok := ctx.Value(connKey{}).(net.Conn)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.open[conn]; s != nil { // else it was closed here
		c.moveLocked(s, working)
	}
}

// Changed is the server's ConnState.
func (c *Connections) Changed(conn net.Conn, state http.ConnState) {
	if surplus := c.changed(conn, state); surplus != nil {
		cut(surplus) // nothing was said that could be lost
	}
}

// changed notes a change, and returns the connection that is to make room.
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
	case s == nil: // closed here, and its server has yet to see that
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

// oldestLocked forgets the connection that is to be closed, and returns it.
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

// cut closes a connection at once: a proper close, as TLS has it, would wait for a peer that reads nothing.
func cut(conn net.Conn) {
	if encrypted, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = encrypted.NetConn()
	}
	_ = conn.Close()
}
