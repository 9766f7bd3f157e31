package embedded

import (
	"context"
	"errors"
	"sync"

	"brine/hbase/embedded/internal/store"
)

// Server is a running cluster of one node. It is safe for concurrent use.
type Server struct {
	cluster  *cluster
	controls *controls
	close    func() error
}

// Start opens the data folder and listens. The error Is ErrInUse or ErrNewerFormat when the folder is.
func Start(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	st, err := store.Open(store.Options{Dir: o.Dir, Fsync: o.Fsync, Log: o.Logger})
	if err != nil {
		return nil, err
	}
	c := newCluster(o, st)
	s := &Server{cluster: c, controls: &c.controls}
	n, err := listen(c, o.Addr)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	if err := c.load(n); err != nil {
		return nil, errors.Join(err, n.listener.Close(), st.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	go n.serve(ctx)
	s.close = sync.OnceValue(func() error {
		cancel()
		n.stop()
		return st.Close()
	})
	return s, nil
}

// Addr is the host:port that the server listens on: of its master, its registry and its region server.
func (s *Server) Addr() string { return s.cluster.nodes[0].addr }

// Close stops listening, ends all connections, waits for the calls in work and closes the store.
func (s *Server) Close() error { return s.close() }
