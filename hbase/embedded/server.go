// Package embedded is an HBase server in this process, on a loopback port, speaking HBase's own wire and storing in Pebble:
// for `brine dev`, for tests, and for faults on demand. HBase's Java client works against it. It
// shares only the wire's bytes and messages with our client, so that neither hides the other's mistakes.
//
// One Server is a cluster: a catalogue of namespaces, tables and regions, and nodes, each with its own listener, connections,
// scanners and start code. With Options.Servers 1 the one node is region server and master; with more the master has a
// listener of its own, so that it can live or die by itself. All nodes answer the registry's calls. Regions belong to a node
// and do not show in the stored keys, so that to move, split or merge them writes only hbase:meta: one commit decides, and
// what a crash leaves is the catalogue before it or after it (transition.go). At each start the regions of enabled tables are
// dealt out in turn.
//
// A request's way, read top to bottom:
//
//	conn.serve       preamble, connection header, then frames; each request in its own goroutine
//	conn.run         control functions first (faults.go), then the method's handler (call.go)
//	rpc_*.go         the handlers: a file for each family of methods, which says above its map of them what they do not do
//	internal/filter  the filters and comparators of reads and conditions
//	internal/store   cells in Pebble, with HBase's order and semantics
//	conn.reply       result or exception, whole frames, in whatever order they are ready
//
// What the handlers work on: cluster.go (the catalogue) and meta.go (its regions, in hbase:meta), node.go (a server through its
// lives) and life.go (one of them), regions.go (tables and regions) and transition.go (where regions are, and how that changes),
// mutation.go (writes), scanner.go (reads).
//
// Faults on demand:
//
//	Server.Control             seizes requests and answers, delays, drops or silences them
//	Exceptions                 all exceptions that a client may meet, for Outcome.Exception and its like
//	Server.Split, Merge, Move  with Server.Hold and Options.InTransition, which keep the regions closed for a while
//	Node                       Kill, Stop, Restart, Freeze, Slow, SetClock; the master is a Node too
//	Server.CutMeta, HoldMaster hbase:meta that does not answer, a master that is initializing
//
// The invariants: a mutation is acknowledged only after it is durable (see Options.Fsync) and is applied whole or not at
// all; a read sees rows whole; what is not supported is answered with a clear exception and listed in LIMITS.md; no bytes
// from a connection make the server panic, or allocate what they only announce; what the requests and answers of all
// connections hold is bounded, and a client that does not read or does not finish is cut off first (Options.MaxHeld, gate.go).
package embedded

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"brine/hbase/embedded/internal/store"
)

// Server is a running cluster. It is safe for concurrent use.
type Server struct {
	cluster  *cluster
	controls *controls
	close    func() error
}

// Start opens the data folder and listens. The error Is ErrInUse, ErrNewerFormat or ErrDamaged when the folder is.
func Start(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.EnsureDefaults()
	var damage atomic.Pointer[error] // found while the catalogue is read
	st, err := store.Open(store.Options{Dir: o.Dir, Fsync: o.Fsync, Log: o.Logger, Warn: o.Warn, Damaged: func(err error) {
		damage.Store(&err)
		if o.Damaged != nil {
			o.Damaged(err)
		}
	}})
	if err != nil {
		return nil, err
	}
	s, err := startOn(o, st)
	if is := damage.Load(); err != nil && is != nil {
		return nil, *is
	}
	return s, err
}

// startOn starts the cluster on an open store, which it then owns.
func startOn(o Options, st *store.Store) (*Server, error) {
	c := newCluster(o, st)
	if err := c.openTLS(); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	if o.Kerberos != nil {
		var err error
		if c.kerberos, err = o.Kerberos.open(); err != nil {
			return nil, errors.Join(err, st.Close())
		}
	}
	s := &Server{cluster: c, controls: &c.controls, close: sync.OnceValue(c.end)}
	if err := c.listen(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := c.load(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := c.openZooKeeper(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for _, n := range c.lives() {
		n.run()
	}
	return s, nil
}

// Addr is the host:port to connect to: of the master and registry, and of the region server too when there is one only.
func (s *Server) Addr() string { return s.cluster.master.Addr() }

// ZooKeeper is the host:port of the server's own ZooKeeper, empty when it has none; see Options.ZooKeeper.
func (s *Server) ZooKeeper() string {
	if s.cluster.zookeeper == nil {
		return ""
	}
	return s.cluster.zookeeper.Addr()
}

// Nodes are the region servers.
func (s *Server) Nodes() []*Node { return slices.Clone(s.cluster.places.all()) }

// Master is the master's node: the only region server's when Options.Servers is 1.
func (s *Server) Master() *Node { return s.cluster.master }

// Broken returns why the server answers every call that reads or writes with an IOException, nil while it does not: its data folder cannot
// be written. It opens the folder again until that succeeds.
func (s *Server) Broken() error { return s.cluster.store.Broken() }

// Close stops listening, ends all connections, waits for the calls in work and closes the store.
func (s *Server) Close() error { return s.close() }

// Region is a region of a table that is served, or would be if its server lived.
type Region struct {
	Name       []byte
	Encoded    string
	Start, End []byte
	Node       int // index in Nodes; -1 when it is open nowhere

	Replicas []Region // its read-only replicas, by their numbers from 1
}

// Regions returns the regions of a table, named namespace:name or name, in the order of their keys.
func (s *Server) Regions(table string) []Region {
	t, err := s.cluster.find(parseTableName(table))
	if err != nil {
		return nil
	}
	s.cluster.mu.RLock()
	defer s.cluster.mu.RUnlock()
	var rs []Region
	for _, r := range t.regions {
		seen := r.seen()
		for _, p := range r.replicas {
			seen.Replicas = append(seen.Replicas, p.seen())
		}
		rs = append(rs, seen)
	}
	return rs
}

func (r *region) seen() Region {
	at := -1
	if n := r.at(); n != nil {
		at = n.place.index
	}
	return Region{Name: r.name, Encoded: r.encoded, Start: r.info.StartKey, End: r.info.EndKey, Node: at}
}

// Split splits a region, named by its name or encoded name, at a row, or in the middle of its data when at is nil, and returns
// the encoded names of its daughters when they are open.
func (s *Server) Split(region string, at []byte) (low, high string, err error) {
	names, err := s.cluster.split(region, at, func() {})
	return names[0], names[1], err
}

// Merge merges adjacent regions and returns the encoded name of the merged one when it is open.
func (s *Server) Merge(regions ...string) (string, error) {
	return s.cluster.merge(regions, func() {})
}

// Move moves a region to a node, or to another one when to is nil, and returns when it is open there.
func (s *Server) Move(region string, to *Node) error {
	if to == nil {
		return s.cluster.move(region, nil)
	}
	return s.cluster.move(region, to.life.Load())
}

// Balance moves regions until no node has two more than another, and returns how many moved.
func (s *Server) Balance() (moved int) {
	_, moved = s.cluster.balance(false)
	return moved
}
