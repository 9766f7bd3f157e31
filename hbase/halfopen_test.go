package hbase

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// halfOpen is a connection whose peer can go dumb: from then on it sends nothing, and may not even read.
type halfOpen struct {
	net.Conn
	dumb   *atomic.Bool
	reads  bool
	born   bool // made later, so dumb does not apply
	closed chan struct{}
	until  atomic.Pointer[time.Time]
}

func (c *halfOpen) Write(b []byte) (int, error) {
	if c.born || !c.dumb.Load() {
		return c.Conn.Write(b)
	}
	if c.reads {
		return len(b), nil
	}
	select {
	case <-c.closed:
		return 0, net.ErrClosed
	case <-time.After(time.Until(*c.until.Load())):
		return 0, os.ErrDeadlineExceeded
	}
}

func (c *halfOpen) SetWriteDeadline(t time.Time) error {
	c.until.Store(&t)
	return c.Conn.SetWriteDeadline(t)
}

func (c *halfOpen) Close() error {
	close(c.closed)
	return c.Conn.Close()
}

// A peer that goes dumb under a load of writes costs one time-out of a call, whether it still reads or not and however many calls are
// unanswered: the first time-out ends the connection, and everything goes over a new one.
func TestDumbPeerCostsOneTimeout(t *testing.T) {
	for _, regions := range []int{1, 16} {
		for _, reads := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d regions, reads %v", regions, reads), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { dumbUnderLoad(t, regions, reads) })
			})
		}
	}
}

func dumbUnderLoad(t *testing.T, regions int, reads bool) {
	p := newPeer(t, sixteen()[:regions-1]...)
	p.answer = func(c *peerCall) *reply {
		if c.method != "Multi" {
			return nil
		}
		after := make(chan struct{})
		time.AfterFunc(100*ms, func() { close(after) })
		r := p.multi(c)
		r.after = after
		return r
	}
	var dumb atomic.Bool
	opts := p.options()
	opts.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := p.dial(ctx, network, addr)
		return &halfOpen{Conn: c, dumb: &dumb, reads: reads, born: dumb.Load(), closed: make(chan struct{})}, err
	}
	opts.Pause, opts.Retries, opts.RPCTimeout, opts.OperationTimeout = 100*ms, 15, 10*time.Second, time.Hour
	c := p.open(opts)
	start := time.Now()
	slowest := make(chan time.Duration)
	for k := range regions {
		go func() {
			var longest time.Duration
			for i := 0; time.Since(start) < 30*time.Second; i++ {
				sent := time.Now()
				if failed := land(t, c, puts(fmt.Sprintf("%x%d", k, i))); failed != nil {
					t.Error(failed)
				}
				longest = max(longest, time.Since(sent))
			}
			slowest <- longest
		}()
	}
	time.Sleep(5 * time.Second)
	dumb.Store(true)
	for range regions {
		if d := <-slowest; d < opts.RPCTimeout/2 || d > opts.RPCTimeout*3/2 { // with pauses, look-ups and turns, less than two time-outs
			t.Errorf("the slowest mutation took %v, one call may take %v", d, opts.RPCTimeout)
		}
	}
	c.Close()
	p.stop()
}

// Callers with less patience than a call's time-out do not keep a dumb peer's connection alive by calling again and again.
func TestImpatientCallersDoNotKeepADumbPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		var dumb atomic.Bool
		opts := p.options()
		opts.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := p.dial(ctx, network, addr)
			return &halfOpen{Conn: c, dumb: &dumb, reads: true, born: dumb.Load(), closed: make(chan struct{})}, err
		}
		opts.RPCTimeout, opts.OperationTimeout = 10*time.Second, time.Minute
		c := p.open(opts)
		get := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := c.Get(ctx, "t", Get{Row: []byte("a")})
			return err
		}
		if err := get(); err != nil {
			t.Fatal(err)
		}
		dumb.Store(true)
		start := time.Now()
		for get() != nil && time.Since(start) < time.Minute {
		}
		if took := time.Since(start); took > opts.RPCTimeout+2*time.Second {
			t.Errorf("it was asked for %v", took)
		}
		c.Close()
		p.stop()
	})
}
