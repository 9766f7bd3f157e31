// Package zkserver is the part of ZooKeeper that HBase's clients need to find a cluster: znodes that can be read, watched and listed, in
// sessions that outlive a connection. Only the cluster writes them. The package shares no code with our client's package zk.
//
// The invariant: the messages to one connection have one order, and a watch's event precedes any answer that shows the change.
package zkserver

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"maps"
	"net"
	"path"
	"slices"
	"sync"
	"time"

	"brine/internal/sockets"
)

// Limits. HBase's clients hold one connection with a few watches.
const (
	maxConns    = 256
	maxHeld     = 4 << 20
	maxSessions = 4096
	maxWatches  = 1000     // of a connection
	maxMessage  = 64 << 10 // bytes of a request

	leastTimeout = 4 * time.Second // of a session; ZooKeeper's own with its tick of 2 s
	mostTimeout  = 40 * time.Second
)

// znode is the data stored under one path, with the fields of its Stat.
type znode struct {
	data             []byte
	created, changed int64 // zxid
	children         int64 // zxid of the last change of the children
	ctime, mtime     int64 // ms
	version          int32
	childVersion     int32
}

// session is a client's session, which may outlive its connections.
type session struct {
	id       int64
	password []byte
	timeout  time.Duration
	until    time.Time // expiry while it has no connection
	conn     *conn     // current connection, if any
}

// Server serves znodes on a listener.
type Server struct {
	listener net.Listener
	znodes   func() map[string][]byte
	limiter  *sockets.Limiter
	wg       sync.WaitGroup

	mu       sync.Mutex // guards the fields below, and the conns' watches and queues
	closed   bool
	tree     map[string]*znode
	zxid     int64
	sessions map[int64]*session
	conns    map[*conn]struct{}
}

// New serves the znodes that a function returns, by path, on a listener until Close. It adds missing parents. Each call of Changed calls
// the function again.
func New(l net.Listener, znodes func() map[string][]byte, warn func(error)) *Server {
	s := &Server{
		listener: sockets.Listener(l, warn), znodes: znodes, limiter: sockets.NewLimiter(maxConns, maxHeld, warn),
		tree: map[string]*znode{"/": {}}, sessions: map[int64]*session{}, conns: map[*conn]struct{}{},
	}
	s.Changed()
	s.wg.Go(s.accept)
	return s
}

// Addr returns the host:port of the listener.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends all connections and waits for their goroutines.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		c.net.Close()
	}
	s.mu.Unlock()
	_ = s.listener.Close() // it is closed whatever the error
	s.wg.Wait()
}

func (s *Server) accept() {
	for {
		n, err := s.listener.Accept()
		if err != nil {
			return
		}
		c := newConn(s, n)
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			c.member.Leave()
			n.Close()
			return
		}
		s.conns[c] = struct{}{}
		s.wg.Go(c.serve)
		s.mu.Unlock()
	}
}

// Changed updates the znodes and sends the events of those that are watched.
func (s *Server) Changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := withParents(s.znodes())
	for _, name := range slices.Sorted(maps.Keys(fresh)) {
		switch z := s.tree[name]; {
		case z == nil:
			s.create(name, fresh[name])
		case !bytes.Equal(z.data, fresh[name]):
			s.zxid++
			z.data, z.changed, z.mtime = fresh[name], s.zxid, time.Now().UnixMilli()
			z.version++
			s.fire(eventDataChanged, name)
		}
	}
	gone := slices.Sorted(maps.Keys(s.tree))
	slices.Reverse(gone) // children before their parents
	for _, name := range gone {
		if _, there := fresh[name]; !there {
			s.remove(name)
		}
	}
}

// withParents returns the znodes with their parents added.
func withParents(znodes map[string][]byte) map[string][]byte {
	all := map[string][]byte{"/": nil}
	for name, data := range znodes {
		all[name] = data
		for up := path.Dir(name); up != "/"; up = path.Dir(up) {
			if _, there := all[up]; !there {
				all[up] = znodes[up]
			}
		}
	}
	return all
}

func (s *Server) create(name string, data []byte) {
	s.zxid++
	now := time.Now().UnixMilli()
	s.tree[name] = &znode{data: data, created: s.zxid, changed: s.zxid, children: s.zxid, ctime: now, mtime: now}
	s.fire(eventCreated, name)
	s.touchParent(name)
}

func (s *Server) remove(name string) {
	s.zxid++
	delete(s.tree, name)
	s.fire(eventDeleted, name)
	s.touchParent(name)
}

func (s *Server) touchParent(name string) {
	up := path.Dir(name)
	if z := s.tree[up]; z != nil && up != name {
		z.children = s.zxid
		z.childVersion++
		s.fire(eventChildrenChanged, up)
	}
}

// fire sends an event, once, to the connections that watch for it.
func (s *Server) fire(event int32, name string) {
	for c := range s.conns {
		if c.watches.take(event, name) {
			c.send(appendEvent(nil, event, name))
		}
	}
}

// list returns the names of a znode's children.
func (s *Server) list(name string) (names []string) {
	for other := range s.tree {
		if other != "/" && path.Dir(other) == name {
			names = append(names, path.Base(other))
		}
	}
	slices.Sort(names)
	return names
}

// begin returns the session that a connection requests, new or existing, or nil if it has expired.
func (s *Server) begin(c *conn, id int64, password []byte, timeout time.Duration) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if id != 0 {
		had := s.sessions[id]
		if had == nil || !bytes.Equal(had.password, password) {
			return nil
		}
		if had.conn != nil {
			had.conn.net.Close() // its client now uses another connection
		}
		had.conn = c
		return had
	}
	n := &session{password: make([]byte, passwordLen), timeout: min(max(timeout, leastTimeout), mostTimeout), conn: c}
	var raw [8]byte
	rand.Read(raw[:])
	rand.Read(n.password)
	n.id = int64(binary.BigEndian.Uint64(raw[:])>>1 | 1) // positive
	s.sessions[n.id] = n
	return n
}

// expire removes the sessions without a connection for longer than their timeout and, if there are too many, the one that would expire
// first.
func (s *Server) expire() {
	now := time.Now()
	var first *session
	for id, n := range s.sessions {
		if n.conn != nil {
			continue
		}
		if now.After(n.until) {
			delete(s.sessions, id)
		} else if first == nil || n.until.Before(first.until) {
			first = n
		}
	}
	if len(s.sessions) >= maxSessions && first != nil {
		delete(s.sessions, first.id)
	}
}

// leave removes a connection. Its session stays until its timeout, unless the client closed it.
func (s *Server) leave(c *conn, n *session, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	close(c.out)
	c.out = nil
	if n == nil || n.conn != c {
		return
	}
	n.conn, n.until = nil, time.Now().Add(n.timeout)
	if closed {
		delete(s.sessions, n.id)
	}
}
