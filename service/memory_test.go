package service

import (
	"context"
	"math"
	"runtime/debug"
	"testing"
	"time"
)

func TestHeapLimitLeavesTheCollectorRoom(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ memory, process, live, want int64 }{
		{64 * mib, 0, 0, 76 * mib},
		{64 * mib, 0, 50 * mib, 76 * mib},
		{64 * mib, 256 * mib, 50 * mib, 76 * mib},  // the process may take more, but need not
		{64 * mib, 112 * mib, 96 * mib, 106 * mib}, // not even if more is live
		{64 * mib, 0, 96 * mib, 128 * mib},         // more is live than memory: a lower limit would make the collector run all the time
	} {
		if got := heapLimit(c.memory, c.process, c.live); got != c.want {
			t.Errorf("memory %d MiB, live %d MiB: limit %d MiB, want %d", c.memory/mib, c.live/mib, got/mib, c.want/mib)
		}
	}
}

func TestHoldHeapSetsAndRestoresTheLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Setenv("GOMEMLIMIT", "")
	go func() {
		defer close(ended)
		HoldHeap(ctx, math.MaxInt64/4, 0)
	}()
	for deadline := time.Now().Add(time.Minute); debug.SetMemoryLimit(-1) == before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the limit was not set")
		}
	}
	cancel()
	<-ended
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit is %d afterwards, want %d", got, before)
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	HoldHeap(t.Context(), 64<<20, 128<<20) // returns at once: the operator's limit takes precedence
}
