package indexer

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	p := newPace(8, 4<<20)
	check := func(when string, calls, bytes int) {
		t.Helper()
		if int(p.calls) != calls || p.limit() != bytes {
			t.Errorf("%s: %d calls of %d bytes, want %d of %d", when, int(p.calls), p.limit(), calls, bytes)
		}
	}
	check("at first", 8, 4<<20)
	p.congested(at(0), at(10))
	p.congested(at(1), at(11)) // sent before the halving
	check("after one halving", 4, 2<<20)
	for i := range 20 {
		p.congested(at(20+i), at(20+i))
	}
	check("at the least", 1, leastBytes)
	p.took(at(50))
	check("after one call", 2, leastBytes+4<<20/steps)
	for range 200 {
		p.took(at(50))
	}
	check("recovered", 8, 4<<20)

	p.tooLarge(1<<20, at(60))
	check("after a size was refused", 8, 1<<19)
	for range 200 {
		p.took(at(61))
	}
	check("below the refused size", 8, 1<<20*7/8)
	p.took(at(60 + 601))
	check("ten minutes later", 8, 1<<20*7/8+4<<20/steps)
	p.tooLarge(100, at(700))
	check("less than the least", 8, 50)
}

// TestPaceBoundsCalls checks that no more calls are pending than allowed, that waiting ones continue when one ends, and that one leaves
// with its context.
func TestPaceBoundsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(4, 1<<20)
		p.congested(time.Now(), time.Now()) // 2
		ctx, cancel := context.WithCancel(t.Context())
		var in, left atomic.Int32 // in is never decremented: a call that has left shows by the next one that enters
		for range 6 {
			go func() {
				if p.enter(ctx) {
					in.Add(1)
				} else {
					left.Add(1)
				}
			}()
			synctest.Wait()
		}
		if n := in.Load(); n != 2 {
			t.Errorf("%d are in, want 2", n)
		}
		p.leave()
		synctest.Wait()
		if n := in.Load(); n != 3 {
			t.Errorf("%d are in, want 2 and one that has left", n)
		}
		cancel()
		synctest.Wait()
		if n := left.Load(); n != 3 {
			t.Errorf("%d left with their context, want 3", n)
		}
	})
}
