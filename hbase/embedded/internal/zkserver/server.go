// Package zkserver is the little of ZooKeeper by which HBase's clients find a cluster: znodes that are read, watched and listed, in
// sessions that outlive a connection. The cluster writes them; clients cannot. It shares no code with our client's package zk.
//
// The invariant: what one connection is sent has one order, and a watch's event comes before any answer that shows the change.
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

// Limits. HBase's clients hold one connection with a handful of watches.
const (
	maxConns    = 256
	maxHeld     = 4 << 20
	maxSessions = 4096
	maxWatches  = 1000     // of a connection
	maxMessage  = 64 << 10 // bytes of a request

	leastTimeout = 4 * time.Second // of a session; ZooKeeper's own with its tick of 2 s
	mostTimeout  = 40 * time.Second
)

// znode is what is stored under one path, with what its Stat says.
type znode struct {
	data             []byte
	created, changed int64 // zxid
	children         int64 // zxid of the last change of its children
	ctime, mtime     int64 // ms
	version          int32
	childVersion     int32
}

// session is a client's, from connection to connection.
type session struct {
	id       int64
	password []byte
	timeout  time.Duration
	until    time.Time // while no connection has it
	conn     *conn     // that has it
}

// Server answers on a listener.
type Server struct {
	listener net.Listener
	znodes   func() map[string][]byte
	limiter  *sockets.Limiter
	wg       sync.WaitGroup

	mu       sync.Mutex // guards what follows, and the conns' watches and queues
	closed   bool
	tree     map[string]*znode
	zxid     int64
	sessions map[int64]*session
	conns    map[*conn]struct{}
}

// New serves the znodes that a function returns, by their paths, on a listener until Close. Those above them are made. Each call of Changed
// asks the function again.
func New(l net.Listener, znodes func() map[string][]byte, warn func(error)) *Server {
	s := &Server{
		listener: sockets.Listener(l, warn), znodes: znodes, limiter: sockets.NewLimiter(maxConns, maxHeld, warn),
		tree: map[string]*znode{"/": {}}, sessions: map[int64]*session{}, conns: map[*conn]struct{}{},
	}
	s.Changed()
	s.wg.Go(s.accept)
	return s
}

// Addr is the host:port that the server listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends all connections and waits for their goroutines.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		c.net.Close()
	}
	s.mu.Unlock()
	_ = s.listener.Close() // it is closed, whatever the error
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

// Changed brings the znodes up to date and sends the events of those that are watched.
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

// withParents returns the znodes with those above them.
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

// fire sends an event to the sessions that watch for it, once.
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

// begin returns the session that a connection asks for: a new one, or the one that it had. It returns nil when that has expired.
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
			had.conn.net.Close() // its client has come by another one
		}
		had.conn = c
		return had
	}
	n := &session{password: make([]byte, passwordLen), timeout: min(max(timeout, leastTimeout), mostTimeout), conn: c}
	var raw [8]byte
	rand.Read(raw[:])
	rand.Read(n.password)
	n.id = int64(binary.BigEndian.Uint64(raw[:])>>1 | 1) // positive, and not 0
	s.sessions[n.id] = n
	return n
}

// expire forgets the sessions that no connection had for their time-out, and when there are too many, the one that ends first.
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

// leave takes a connection out; its session lives on for its time-out, unless it was closed.
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
