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
// before one that does. Of too many connections, those that have made no progress yet may be a quarter, and else go first: a flood of them
// takes nothing from those who wait for an answer.
type Limiter struct {
	conns int
	bytes int64
	warn  func(error)

	mu   sync.Mutex // guards what follows, and all members
	held int64
	// Of *Member, the longest without progress in front: those that have made none yet, and the others.
	fresh, proven list.List
	clock         uint64
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
	since   uint64        // when it made progress last, or joined
	proven  bool          // it has made progress
	place   *list.Element // nil once it has left
	held    int64
}

// Join counts a connection from now on. The caller has it Leave.
func (l *Limiter) Join(c net.Conn) *Member {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &Member{limiter: l, conn: c, since: l.now()}
	m.place = l.fresh.PushBack(m)
	if l.fresh.Len()+l.proven.Len() > l.conns {
		from := &l.proven
		if l.fresh.Len() > l.conns/4 {
			from = &l.fresh
		}
		l.cutOff(from.Front().Value.(*Member))
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
	l := m.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.place == nil {
		return
	}
	m.list().Remove(m.place)
	m.proven, m.since = true, l.now()
	m.place = m.list().PushBack(m)
}

// now counts what happens.
func (l *Limiter) now() uint64 {
	l.clock++
	return l.clock
}

func (m *Member) list() *list.List {
	if m.proven {
		return &m.limiter.proven
	}
	return &m.limiter.fresh
}

// longest is the member that has made no progress for longest among those that hold their share, of all that is held, or more.
func (l *Limiter) longest() (longest *Member) {
	share := l.held / int64(l.fresh.Len()+l.proven.Len())
	for _, members := range []*list.List{&l.fresh, &l.proven} {
		for e := members.Front(); e != nil; e = e.Next() {
			if m := e.Value.(*Member); m.held >= share {
				if longest == nil || m.since < longest.since {
					longest = m
				}
				break
			}
		}
	}
	return longest
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
		l.cutOff(l.longest())
	}
	if m.place == nil {
		return ErrCutOff
	}
	return nil
}

// cutOff closes a connection. Who reads from it or writes to it fails, and so frees what it held.
func (l *Limiter) cutOff(m *Member) {
	defer l.remove(m)
	_ = m.conn.Close() // it is closed, whatever it says
	l.warn(fmt.Errorf("%v, of %d connections with %d MiB: %w", m.conn.RemoteAddr(), l.fresh.Len()+l.proven.Len(), l.held>>20, ErrCutOff))
}

func (l *Limiter) remove(m *Member) {
	if m.place == nil {
		return
	}
	m.list().Remove(m.place)
	m.place = nil
	l.held -= m.held
	m.held = 0
}
