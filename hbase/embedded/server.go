// Package embedded is an in-process HBase server on a loopback port that speaks HBase's own protocol and stores in Pebble. It is for `brine
// dev`, for tests, and for faults on demand. HBase's Java client works with it. It shares only the protocol's bytes and messages with our
// client, so that neither hides the other's mistakes.
//
// One Server is a cluster: a catalogue of namespaces, tables and regions, and nodes, each with its own listener, connections, scanners and
// start code. If Options.Servers is 1, the one node is region server and master; if there are more, the master has a listener of its own,
// so that it can live or die by itself. All nodes answer the registry's calls. Regions belong to a node but do not appear in the stored
// keys, so moving, splitting or merging them writes only hbase:meta: one commit decides, and a crash leaves the catalogue from before it or
// after it (transition.go). Each start distributes the regions of enabled tables over the nodes in turn.
//
// The path of a request, from top to bottom:
//
//	conn.serve       preamble, connection header, then frames; each request in its own goroutine
//	conn.run         control functions first (faults.go), then the method's handler (call.go)
//	rpc_*.go         the handlers: a file for each family of methods, with a list of what they do not do
//	internal/filter  the filters and comparators of reads and conditions
//	internal/store   cells in Pebble, with HBase's order and semantics
//	conn.reply       result or exception, whole frames, in whatever order they are ready
//
// The handlers use cluster.go (the catalogue) and meta.go (its regions, in hbase:meta), node.go (a server across its lives) and life.go
// (one of them), regions.go (tables and regions) and transition.go (how regions change their location), mutation.go (writes), scanner.go
// (reads).
//
// Faults on demand:
//
//	Server.Control             seizes requests and answers, delays, drops or silences them
//	Exceptions                 all exceptions that a client may meet, for Outcome.Exception and its like
//	Server.Split, Merge, Move  with Server.Hold and Options.InTransition, which keep the regions closed for a while
//	Node                       Kill, Stop, Restart, Freeze, Slow, SetClock; the master is a Node too
//	Server.CutMeta, HoldMaster hbase:meta that does not answer, a master that is initializing
//
// The invariants: a mutation is acknowledged only after it is durable (see Options.Fsync), and is applied whole or not at all; a read sees
// whole rows; anything unsupported is answered with a clear exception and listed in LIMITS.md; no bytes from a connection make the server
// panic, or allocate what they only announce; the memory held by the requests and answers of all connections is bounded, and a client that
// does not read or does not finish is cut off first (Options.MaxHeld, gate.go).
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

// Start opens the data folder and listens. The error is ErrInUse, ErrNewerFormat or ErrDamaged if the folder is in use, of a newer format
// or damaged.
func Start(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.EnsureDefaults()
	var damage atomic.Pointer[error] // set while the catalogue is read
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

// startOn starts the cluster on an open store and takes ownership of the store.
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

// Addr returns the host:port to connect to: the master's and registry's, and also the region server's if there is only one.
func (s *Server) Addr() string { return s.cluster.master.Addr() }

// ZooKeeper returns the host:port of the server's own ZooKeeper, or "" if it has none; see Options.ZooKeeper.
func (s *Server) ZooKeeper() string {
	if s.cluster.zookeeper == nil {
		return ""
	}
	return s.cluster.zookeeper.Addr()
}

// Nodes returns the region servers.
func (s *Server) Nodes() []*Node { return slices.Clone(s.cluster.places.all()) }

// Master returns the master's node, which is also the only region server if Options.Servers is 1.
func (s *Server) Master() *Node { return s.cluster.master }

// Broken returns the reason why the server answers every read and write with an IOException, or nil if it does not. The reason is that the
// data folder cannot be written; the server keeps trying to open it again.
func (s *Server) Broken() error { return s.cluster.store.Broken() }

// Close stops listening, ends all connections, waits for the calls in progress and closes the store.
func (s *Server) Close() error { return s.close() }

// Region describes a region of a table, open or not.
type Region struct {
	Name       []byte
	Encoded    string
	Start, End []byte
	Node       int // index in Nodes; -1 if it is not open

	Replicas []Region // its read-only replicas, ordered by number from 1
}

// Regions returns the regions of a table, named namespace:name or name, in key order.
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

// Split splits a region, given by its name or encoded name, at a row, or in the middle of its data if at is nil. It returns the encoded
// names of the daughters once they are open.
func (s *Server) Split(region string, at []byte) (low, high string, err error) {
	names, err := s.cluster.split(region, at, func() {})
	return names[0], names[1], err
}

// Merge merges adjacent regions and returns the encoded name of the merged one once it is open.
func (s *Server) Merge(regions ...string) (string, error) {
	return s.cluster.merge(regions, func() {})
}

// Move moves a region to a node, or to any other one if to is nil, and returns once it is open there.
func (s *Server) Move(region string, to *Node) error {
	if to == nil {
		return s.cluster.move(region, nil)
	}
	return s.cluster.move(region, to.life.Load())
}

// Balance moves regions until the nodes' numbers of regions differ by at most one, and returns the number of moves.
func (s *Server) Balance() (moved int) {
	_, moved = s.cluster.balance(false)
	return moved
}
