package hbasetest

import (
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
)

// Server is an HBase in the test's process. Its own methods and those of its nodes cause faults.
type Server struct{ *embedded.Server }

// Run starts an HBase for a test, by default in memory on a free loopback port; set may change its options. It ends with the test.
func Run(t testing.TB, set ...func(*embedded.Options)) *Server {
	t.Helper()
	var o embedded.Options
	for _, f := range set {
		f(&o)
	}
	s, err := embedded.Start(o)
	if err != nil {
		t.Fatalf("the embedded HBase: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the embedded HBase: %v", err)
		}
	})
	return &Server{s}
}

// Connect returns the address for hbase.Options.Connect.
func (s *Server) Connect() string { return "rpc://" + s.Master().Advertised() }

// Options returns the options of a client for tests, which retries soon.
func (s *Server) Options() hbase.Options {
	return hbase.Options{Connect: s.Connect(), Pause: 10 * time.Millisecond, PauseServerOverloaded: 20 * time.Millisecond}
}

// Client opens a client of the server, and closes it when the test ends.
func (s *Server) Client(t testing.TB) *hbase.Client {
	t.Helper()
	c, err := hbase.Open(t.Context(), s.Options())
	if err != nil {
		t.Fatalf("a client of the embedded HBase: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("closing a client: %v", err)
		}
	})
	return c
}
