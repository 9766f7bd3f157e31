package embedded_test

import (
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

// fullListener fails its first accepts, like a process without free descriptors.
type fullListener struct {
	net.Listener
	fails atomic.Int32
}

func (l *fullListener) Accept() (net.Conn, error) {
	if l.fails.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// TestAcceptsAgainAfterErrors: a server whose accepts fail for a while reports that once, and then serves.
func TestAcceptsAgainAfterErrors(t *testing.T) {
	warned := make(chan string, 10)
	s := start(t, embedded.Options{
		Warn: func(err error) { warned <- err.Error() },
		Listen: func(network, addr string) (net.Listener, error) {
			l, err := net.Listen(network, addr)
			full := &fullListener{Listener: l}
			full.fails.Store(3)
			return full, err
		},
	})
	dial(t, s.Addr(), "ClientMetaService").must("GetClusterId", &hbasepb.GetClusterIdRequest{}, &hbasepb.GetClusterIdResponse{}, nil)
	if got := <-warned; !strings.Contains(got, "too many open files: raise the limit of this process (ulimit -n)") || len(warned) > 0 {
		t.Errorf("warned %q and %d times more", got, len(warned))
	}
}
