package rpc

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A server that refused a connection is not dialled again for a while.
func TestFailedServerIsNotDialled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("refused")
		dials := 0
		var goroutines Goroutines
		s := New(t.Context(), Options{RPCTimeout: time.Minute, DialTimeout: time.Second, Dial: func(context.Context, string, string) (net.Conn, error) {
			dials++
			return nil, refused
		}}, &goroutines)
		for range 3 {
			if _, err := s.get(t.Context(), ClientService.At("m1:1"), time.Time{}); !errors.Is(err, refused) {
				t.Error(err)
			}
		}
		if dials != 1 {
			t.Errorf("%d dials", dials)
		}
		time.Sleep(failedExpiry)
		_, _ = s.get(t.Context(), ClientService.At("m1:1"), time.Time{})
		if dials != 2 {
			t.Errorf("%d dials after the wait", dials)
		}
		goroutines.Wait()
	})
}
