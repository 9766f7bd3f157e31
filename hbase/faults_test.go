package hbase

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/embedded"
	"brine/internal/testenv"
)

// faultyConn fails the n-th read or write over all connections, and breaks with it.
type faultyConn struct {
	net.Conn
	left *atomic.Int64
}

var errInjected = errors.New("injected fault")

func (f faultyConn) Read(b []byte) (int, error) {
	if f.left.Add(-1) == 0 {
		f.Close()
		return 0, errInjected
	}
	return f.Conn.Read(b)
}

func (f faultyConn) Write(b []byte) (int, error) {
	if f.left.Add(-1) == 0 {
		n, _ := f.Conn.Write(b[:len(b)/2])
		f.Close()
		return n, errInjected
	}
	return f.Conn.Write(b)
}

func startEmbedded(t testing.TB, o embedded.Options) *embedded.Server {
	t.Helper()
	if o.Listen == nil {
		o.Listen = testenv.Listen(t)
	}
	s, err := embedded.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// patient returns options for quick tests against a server on this machine.
func patient(connect string) Options {
	return Options{Connect: connect, Pause: time.Millisecond, PauseServerOverloaded: time.Millisecond, Retries: 1000}
}

// Call 0 fails, then call 1, then 2 …, until a run has no failure. Whatever breaks, every mutation gets one result, and everything
// submitted is in the table and can be read back.
func TestEveryFailedReadOrWriteIsSurvived(t *testing.T) {
	t.Run("autoflush", func(t *testing.T) { failEachCall(t, MutatorOptions{Autoflush: true}) })
	t.Run("buffered", func(t *testing.T) { failEachCall(t, MutatorOptions{WriteBuffer: 150}) })
}

func failEachCall(t *testing.T, o MutatorOptions) {
	t.Parallel()
	s := startEmbedded(t, embedded.Options{})
	clean := open(t, patient("rpc://"+s.Addr()))
	createTable(t, clean, "faults", "r3", "r6")
	n := int64(1)
	for ; ; n++ {
		var left atomic.Int64
		left.Store(n)
		opts := patient("rpc://" + s.Addr())
		opts.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return faultyConn{c, &left}, nil
		}
		c, err := Open(t.Context(), opts)
		if err != nil && left.Load() <= 0 {
			continue // an unreachable cluster is reported at once
		}
		if err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
		writeAndReadBack(t, c, o, n)
		c.Close()
		if left.Load() > 0 {
			break
		}
	}
	if n < 8 {
		t.Errorf("only %d calls were failed", n-1)
	}
	t.Logf("%d reads and writes failed in turn", n-1)
}

func writeAndReadBack(t *testing.T, c *Client, o MutatorOptions, version int64) {
	t.Helper()
	m := mutator(t, c, o)
	var flights []*Flight
	var want []string
	for i := range 10 {
		row := fmt.Sprintf("r%d", i)
		want = append(want, row)
		b := NewBatch("faults")
		b.Mutate([]byte(row))
		b.Put([]byte("e"), []byte("q"), version, fmt.Append(nil, version))
		flights = append(flights, m.Submit(t.Context(), b))
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatalf("call %d: %v", version, err)
	}
	for i, f := range flights {
		if !isDone(f) {
			t.Fatalf("call %d: mutation %d has no result", version, i)
		}
		if failed, _ := f.Wait(t.Context()); failed != nil {
			t.Fatalf("call %d: %v", version, failed)
		}
	}
	var got []string
	for r, err := range c.Scan(t.Context(), "faults", Scan{}) {
		if err != nil {
			t.Fatalf("call %d: %v", version, err)
		}
		got = append(got, string(r.Row))
		if v := string(r.Cells[0].Value); v != fmt.Sprint(version) {
			t.Fatalf("call %d: %s has %s", version, r.Row, v)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("call %d: rows %v", version, got)
	}
	var gets []Get
	for _, row := range want {
		gets = append(gets, Get{Row: []byte(row)})
	}
	rows, err := c.GetAll(t.Context(), "faults", gets)
	if err != nil || len(rows) != len(want) || len(rows[9].Cells) != 1 {
		t.Fatalf("call %d: %v %v", version, rows, err)
	}
}

func open(t testing.TB, opts Options) *Client {
	t.Helper()
	c, err := Open(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func createTable(t testing.TB, c *Client, name string, splits ...string) {
	t.Helper()
	var keys [][]byte
	for _, s := range splits {
		keys = append(keys, []byte(s))
	}
	if err := c.CreateTable(t.Context(), Table{Name: name, Families: []Family{{Name: "e"}}}, keys); err != nil {
		t.Fatal(err)
	}
}

// A server that accepts connections and is then silent is noticed within the time of one call; the call's error names its address.
func TestSilentServerTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		p.answer = func(c *peerCall) *reply {
			if c.method == "Get" {
				return &reply{silent: true}
			}
			return nil
		}
		opts := p.options()
		opts.Retries, opts.RPCTimeout, opts.OperationTimeout = 1, 10*time.Second, 15*time.Second
		c := p.open(opts)
		start := time.Now()
		_, err := c.Get(t.Context(), "t", Get{Row: []byte("a")})
		if err == nil || !strings.Contains(err.Error(), peerAddr) || !strings.Contains(err.Error(), "no answer") {
			t.Errorf("error: %v", err)
		}
		if d := time.Since(start); d < 20*time.Second || d > 25*time.Second {
			t.Errorf("took %v", d)
		}
		c.Close()
		p.stop()
	})
}

// An idle connection closes itself, and the next call makes another without a failure.
func TestIdleConnectionIsReplacedUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		opts := p.options()
		var retries, dials atomic.Int32
		opts.Hooks.Retry = func(RetryInfo) { retries.Add(1) }
		opts.Hooks.Dial = func(DialInfo) { dials.Add(1) }
		c := p.open(opts)
		if _, err := c.Get(t.Context(), "t", Get{Row: []byte("a")}); err != nil {
			t.Fatal(err)
		}
		before := dials.Load()
		time.Sleep(2*time.Minute + time.Second)
		if _, err := c.Get(t.Context(), "t", Get{Row: []byte("a")}); err != nil {
			t.Fatal(err)
		}
		if dials.Load() != before+1 || retries.Load() != 0 {
			t.Errorf("%d dials, %d retries", dials.Load()-before, retries.Load())
		}
		c.Close()
		p.stop()
	})
}

// An address that refused a connection is not dialled again for two seconds.
func TestFailedServerFailsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials atomic.Int32
		opts := Options{Connect: "rpc://m1:1", Dial: func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			return nil, errInjected
		}}
		for i, want := range []int32{1, 2} {
			if _, err := Open(t.Context(), opts); !errors.Is(err, errInjected) || !strings.Contains(err.Error(), "m1:1") {
				t.Errorf("error: %v", err)
			}
			if dials.Load() != want {
				t.Errorf("run %d: %d dials", i, dials.Load())
			}
		}
	})
}

// Answers arrive in any order; each goes to its call.
func TestAnswersOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		first := make(chan struct{})
		p.answer = func(c *peerCall) *reply {
			if c.method == "Get" && c.nth == 0 {
				return &reply{exception: exception("TableNotFoundException", "").exception, after: first}
			}
			return nil
		}
		c := p.open(p.options())
		slow := make(chan error)
		go func() {
			_, err := c.Get(t.Context(), "t", Get{Row: []byte("a")})
			slow <- err
		}()
		synctest.Wait()
		if _, err := c.Get(t.Context(), "t", Get{Row: []byte("b")}); err != nil {
			t.Error(err)
		}
		close(first)
		if err := <-slow; !errors.Is(err, ErrNoTable) {
			t.Error(err)
		}
		c.Close()
		p.stop()
	})
}

// A server that stops and restarts with its address and directory is found again: what was submitted meanwhile arrives.
func TestServerRestartLosesNothing(t *testing.T) {
	o := embedded.Options{Dir: t.TempDir(), Listen: testenv.Listen(t)}
	s, err := embedded.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Addr = s.Addr()
	c := open(t, patient("rpc://"+s.Addr()))
	createTable(t, c, "t", "m")
	if failed := land(t, c, puts("a", "z")); failed != nil {
		t.Fatal(failed)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	down := c.Submit(t.Context(), puts("b", "y"))
	startEmbedded(t, o)
	if failed, err := down.Wait(t.Context()); err != nil || failed != nil {
		t.Fatal(failed, err)
	}
	rows := 0
	for _, err := range c.Scan(t.Context(), "t", Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	if rows != 4 {
		t.Errorf("%d rows, want 4", rows)
	}
}
