package service

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestHeapLimitLeavesTheCollectorRoom(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		heap       Heap
		live, want int64
	}{
		{Heap{Memory: 64 * mib}, 0, 76 * mib},
		{Heap{Memory: 64 * mib}, 50 * mib, 76 * mib},
		{Heap{Memory: 64 * mib, Process: 256 * mib}, 50 * mib, 250 * mib}, // all that it was given
		{Heap{Memory: 64 * mib, Process: 112 * mib}, 96 * mib, 106 * mib}, // and no more, whatever is live
		{Heap{Memory: 64 * mib}, 96 * mib, 128 * mib},                     // a lower limit would make the collector run all the time
		{Heap{Memory: 64 * mib, Servers: true}, 30 * mib, 76 * mib},
		{Heap{Memory: 64 * mib, Servers: true}, 50 * mib, 108 * mib},
		{Heap{Memory: 64 * mib, Servers: true}, 96 * mib, 168 * mib},
		{Heap{Memory: 64 * mib, Servers: true}, 400 * mib, 508 * mib},
		{Heap{Memory: 64 * mib, Process: 112 * mib, Servers: true}, 96 * mib, 106 * mib},
	} {
		if got := c.heap.limit(c.live); got != c.want {
			t.Errorf("%+v, live %d MiB: limit %d MiB, want %d", c.heap, c.live/mib, got/mib, c.want/mib)
		}
	}
}

// growth returns the collector's GOGC.
func growth() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestHeldHeapSetsAndRestoresTheLimit(t *testing.T) {
	before, grows := debug.SetMemoryLimit(-1), growth()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOGC", "")
	go func() {
		defer close(ended)
		Heap{Memory: math.MaxInt64 / 4}.Hold(ctx)
	}()
	for deadline := time.Now().Add(time.Minute); debug.SetMemoryLimit(-1) == before || growth() != heapGrowth; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the limit and the growth were not set")
		}
	}
	cancel()
	<-ended
	if got := debug.SetMemoryLimit(-1); got != before || growth() != grows {
		t.Errorf("the limit is %d and the growth %d afterwards, want %d and %d", got, growth(), before, grows)
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	Heap{Memory: 64 << 20, Process: 128 << 20}.Hold(t.Context()) // returns at once: the operator's limit takes precedence
}
