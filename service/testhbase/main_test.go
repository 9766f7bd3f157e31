package testhbase

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"brine/hbase/embedded"
	"brine/hbase/hbasetest"
	"brine/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a server on free ports that runs until the test ends.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	o.Port = cmp.Or(o.Port, new(int))
	s, err := Start(o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return s
}

// forward is a port-forward: it carries connections from one address to another, dialing from its own address.
type forward struct {
	listener net.Listener
	to       atomic.Pointer[string]
	carried  atomic.Int32
}

// forwardedFrom is the address that a forward dials from, which no client uses.
const forwardedFrom = "127.0.0.4"

func newForward(t *testing.T, listen string) *forward {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Skipf("a second loopback address: %v", err)
	}
	f := &forward{listener: l}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { f.carry(t.Context(), c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return f
}

func (f *forward) carry(ctx context.Context, c net.Conn) {
	defer c.Close()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(forwardedFrom)}}
	s, err := d.Dial("tcp", *f.to.Load())
	if err != nil {
		return
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { c.Close(); s.Close() })()
	f.carried.Add(1)
	var up sync.WaitGroup
	up.Go(func() { _, _ = io.Copy(s, c); s.Close() })
	_, _ = io.Copy(c, s)
	c.Close()
	up.Wait()
}

// scripts returns scripts that create tables, split, write, scan and drop.
func scripts(t *testing.T) []*hbasetest.Script {
	var all []*hbasetest.Script
	for _, name := range []string{"first.txt", "admin.txt"} {
		all = append(all, hbasetest.Load(t, filepath.Join("../../hbase/hbasetest/testdata/scripts", name))...)
	}
	return all
}

// java runs HBase's own client, if available.
func java(t *testing.T, connect string) {
	classpath := testenv.Java(t).Conform(t)
	client := hbasetest.Program(func(t *testing.T, args ...string) *exec.Cmd { return classpath.Command(t, "Conform", args...) })
	hbasetest.Conform(t, client, connect, "java_", scripts(t), false)
}

// TestThroughAPortForward checks that clients that reach the server by another address than its own do all their work through it.
func TestThroughAPortForward(t *testing.T) {
	t.Parallel()
	f := newForward(t, "127.0.0.2:0")
	s := start(t, Options{Listen: "127.0.0.1", Advertise: f.listener.Addr().String()})
	addr := s.hbase.Addr()
	f.to.Store(&addr)
	var direct atomic.Int32
	s.hbase.Control("", func(r *embedded.Request) *embedded.Outcome {
		if !strings.HasPrefix(r.Remote, forwardedFrom+":") {
			direct.Add(1)
		}
		return nil
	})
	connect := s.Addresses().Connect
	if want := "rpc://" + f.listener.Addr().String(); connect != want {
		t.Fatalf("it says %s, want %s", connect, want)
	}
	t.Run("our client", func(t *testing.T) { hbasetest.Conform(t, hbasetest.Go, connect, "go_", scripts(t), false) })
	t.Run("Java client", func(t *testing.T) { java(t, connect) })
	if direct.Load() > 0 || f.carried.Load() == 0 {
		t.Errorf("%d calls came past the forward, which carried %d connections", direct.Load(), f.carried.Load())
	}
}

// TestFoundInZooKeeper checks that clients that know only the server's ZooKeeper find several region servers through it.
func TestFoundInZooKeeper(t *testing.T) {
	t.Parallel()
	free := 0
	s := start(t, Options{Listen: "127.0.0.1", ZooKeeperPort: &free})
	connect := "zk://" + s.Addresses().ZooKeeper
	t.Run("our client", func(t *testing.T) { hbasetest.Conform(t, hbasetest.Go, connect, "go_", scripts(t), false) })
	t.Run("Java client", func(t *testing.T) { java(t, connect) })
}
