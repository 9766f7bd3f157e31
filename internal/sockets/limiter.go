package sockets

import (
	"container/list"
	"errors"
	"fmt"
	"net"
	"sync"
)

// ErrCutOff is the error of a member whose connection was closed to make room for others.
var ErrCutOff = errors.New("cut off to make room for other connections")

// Limiter bounds how many connections a server has, and how many bytes it holds for all of them. Where a bound is passed, the connection
// that has made no progress for longest is closed: one that never asks, does not finish what it began, or does not read its answers goes
// before one that does. Of those that hold bytes, one that holds less than the others do on average is left alone.
type Limiter struct {
	conns int
	bytes int64
	warn  func(error)

	mu      sync.Mutex // guards what follows, and all members
	held    int64
	members list.List // of *Member: the longest without progress in front
}

// NewLimiter returns a limiter of so many connections and bytes. The first connection of each minute that it closes goes to warn, which may
// be nil and must not block.
func NewLimiter(conns int, bytes int64, warn func(error)) *Limiter {
	return &Limiter{conns: conns, bytes: bytes, warn: Seldom(warn)}
}

// Member is a connection of a limiter.
type Member struct {
	limiter *Limiter
	conn    net.Conn
	place   *list.Element // nil once it has left
	held    int64
}

// Join counts a connection from now on. The caller has it Leave.
func (l *Limiter) Join(c net.Conn) *Member {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &Member{limiter: l, conn: c}
	m.place = l.members.PushBack(m)
	for l.members.Len() > l.conns {
		l.cutOff(l.members.Front().Value.(*Member))
	}
	return m
}

// Leave ends the counting of a connection and of what it holds.
func (m *Member) Leave() {
	m.limiter.mu.Lock()
	defer m.limiter.mu.Unlock()
	m.limiter.remove(m)
}

// Progress notes that the connection has asked a whole question or read a whole answer.
func (m *Member) Progress() {
	m.limiter.mu.Lock()
	defer m.limiter.mu.Unlock()
	if m.place != nil {
		m.limiter.members.MoveToBack(m.place)
	}
}

// Hold counts n bytes more that are held for the connection; fewer when n is negative. It fails when the connection is cut off.
func (m *Member) Hold(n int) error {
	l := m.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.place == nil {
		return ErrCutOff
	}
	m.held += int64(n)
	l.held += int64(n)
	for l.held > l.bytes {
		l.cutOff(l.greediest())
	}
	if m.place == nil {
		return ErrCutOff
	}
	return nil
}

// greediest is the connection that has made no progress for longest of those that hold as much as the average or more. There is one while
// anything is held.
func (l *Limiter) greediest() *Member {
	holders := int64(0)
	for e := l.members.Front(); e != nil; e = e.Next() {
		if e.Value.(*Member).held > 0 {
			holders++
		}
	}
	e := l.members.Front()
	for e.Value.(*Member).held*holders < l.held {
		e = e.Next()
	}
	return e.Value.(*Member)
}

// Held is how many bytes are held for all connections.
func (l *Limiter) Held() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

// cutOff closes a connection. Who reads from it or writes to it fails, and so frees what it held.
func (l *Limiter) cutOff(m *Member) {
	defer l.remove(m)
	_ = m.conn.Close() // it is closed, whatever it says
	l.warn(fmt.Errorf("%v, of %d connections with %d MiB: %w", m.conn.RemoteAddr(), l.members.Len(), l.held>>20, ErrCutOff))
}

func (l *Limiter) remove(m *Member) {
	if m.place == nil {
		return
	}
	l.members.Remove(m.place)
	m.place = nil
	l.held -= m.held
	m.held = 0
}
