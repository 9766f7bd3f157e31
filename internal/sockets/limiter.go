package sockets

import (
	"container/list"
	"errors"
	"fmt"
	"net"
	"sync"
)

// ErrCutOff is returned to a member whose connection was closed to make room for others.
var ErrCutOff = errors.New("cut off to make room for other connections")

// Limiter limits the number of connections of a server, and the bytes that it holds for all of them. When a limit is exceeded, it closes
// the connection that has made no progress for longest: one that never sends a request, does not finish what it began, or does not read its
// answers goes before one that does. If there are too many connections, those that have not made any progress yet may be a quarter of them;
// beyond that they go first, so that a flood of them takes nothing from clients that wait for an answer.
type Limiter struct {
	conns int
	bytes int64
	warn  func(error)

	mu   sync.Mutex // guards the fields below, and all members
	held int64
	// The *Member values, the one longest without progress first: those without any progress yet, and the others.
	fresh, proven list.List
	clock         uint64
}

// NewLimiter returns a limiter for a number of connections and bytes. It reports the first connection of each minute that it closes to
// warn, which may be nil and must not block.
func NewLimiter(conns int, bytes int64, warn func(error)) *Limiter {
	return &Limiter{conns: conns, bytes: bytes, warn: Seldom(warn)}
}

// Member is a connection of a limiter.
type Member struct {
	limiter *Limiter
	conn    net.Conn
	since   uint64        // when it last made progress or joined
	proven  bool          // it has made progress
	place   *list.Element // nil after it has left
	held    int64
}

// Join counts a connection. The caller must call Leave.
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

// Leave stops counting a connection and what it holds.
func (m *Member) Leave() {
	m.limiter.mu.Lock()
	defer m.limiter.mu.Unlock()
	m.limiter.remove(m)
}

// Progress records that the connection has sent a whole request or read a whole answer.
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

// now returns the next tick of the limiter's logical clock.
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

// longest returns the member that has made no progress for longest, among those that hold at least the average.
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

// Hold counts n more bytes held for the connection, or fewer if n is negative. It fails if the connection was cut off.
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

// cutOff closes a connection. Its readers and writers then fail and free what they hold.
func (l *Limiter) cutOff(m *Member) {
	defer l.remove(m)
	_ = m.conn.Close() // it is closed whatever the error
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
