package hbase

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Close ends a get at once, whether it waits for its answer or for a connection whose dial does not heed its context, and the get says so.
func TestCloseEndsAGet(t *testing.T) {
	for _, dialling := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t)
			p.answer = func(c *peerCall) *reply {
				if c.method == "Get" && c.nth > 0 {
					return &reply{silent: true}
				}
				return nil
			}
			opts := p.options()
			opts.RPCTimeout, opts.OperationTimeout = time.Hour, time.Hour
			var stuck atomic.Bool
			opts.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if stuck.Load() {
					time.Sleep(time.Minute)
				}
				return p.dial(ctx, network, addr)
			}
			c := p.open(opts)
			if _, err := c.Get(t.Context(), "t", Get{Row: []byte("a")}); err != nil {
				t.Fatal(err)
			}
			if stuck.Store(dialling); dialling {
				time.Sleep(3 * time.Minute) // the connection is idle
			}
			ended := make(chan error)
			go func() {
				_, err := c.Get(t.Context(), "t", Get{Row: []byte("a")})
				ended <- err
			}()
			synctest.Wait()
			start := time.Now()
			go c.Close()
			if err := <-ended; !errors.Is(err, ErrClosed) || time.Since(start) > 0 {
				t.Errorf("dialling %v: %v after %v", dialling, err, time.Since(start))
			} else if e, ok := errors.AsType[*Error](err); !ok || e.Op != "get" || e.Attempts != 1 || e.Server != peerAddr {
				t.Errorf("dialling %v: %+v", dialling, e)
			}
			c.Close()
			p.stop()
		})
	}
}
