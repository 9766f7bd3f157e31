package hbase

import (
	"context"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A server stops, and its name has no address for a while and then another one. The client resolves the name again, whether the old address
// cut its connections or went silent, and everything is written.
func TestServerBackUnderItsNameAtAnotherAddress(t *testing.T) {
	for name, tt := range map[string]struct {
		silent  bool
		atLeast time.Duration
		atMost  time.Duration
	}{
		"cut off": {false, nameless, nameless + dialAgain + 2*lookAfter},
		"silent":  {true, callTime, callTime + dialAgain + 2*lookAfter},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if took := backElsewhere(t, tt.silent); took < tt.atLeast || took > tt.atMost {
					t.Errorf("written after %v, want %v to %v", took, tt.atLeast, tt.atMost)
				}
			})
		})
	}
}

const (
	nameless  = 3 * time.Second
	callTime  = 10 * time.Second
	dialAgain = 2 * time.Second // after a server refused a connection
)

// backElsewhere returns the duration of the first write after the server has gone.
func backElsewhere(t *testing.T, silent bool) time.Duration {
	was, is := newPeer(t), newPeer(t)
	var named atomic.Pointer[peer] // server that the name stands for
	var dumb atomic.Bool           // of the old address
	named.Store(was)
	opts := was.options()
	opts.Pause, opts.Retries, opts.RPCTimeout, opts.OperationTimeout = 100*ms, 15, callTime, time.Hour
	opts.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		p := named.Load()
		if p == nil {
			return nil, &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}
		}
		c, err := p.dial(ctx, network, addr)
		return &halfOpen{Conn: c, dumb: &dumb, reads: true, born: p == is, closed: make(chan struct{})}, err
	}
	c := was.open(opts)
	if failed := land(t, c, puts("a")); failed != nil {
		t.Error(failed)
	}
	start := time.Now()
	named.Store(nil)
	time.AfterFunc(nameless, func() { named.Store(is) })
	if silent {
		dumb.Store(true)
	} else {
		was.stop()
	}
	if failed := land(t, c, puts("b", "z")); failed != nil {
		t.Error(failed)
	}
	took := time.Since(start)
	if before, after := was.appliedRows(), is.appliedRows(); !slices.Equal(before, []string{"a"}) || !slices.Equal(after, []string{"b", "z"}) {
		t.Errorf("applied %q at the old address, %q at the new one", before, after)
	}
	c.Close()
	was.stop()
	is.stop()
	return took
}
