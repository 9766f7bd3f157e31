package service

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"brine/internal/backoff"
)

// The garbage collector alone lets the heap grow to twice what lives. Nearly all of that would be idle pages here: a loop at full rate
// uses its buffers again, and allocates little.
const (
	heapAboveMemory = 12 << 20               // what brine needs besides memory: its own tables, stacks, room for the collector
	heapOverhead    = 8 << 20                // of the runtime
	heapRoom        = 4                      // at least a quarter of what lives is left to the collector, or it would run all the time
	notHeap         = 6 << 20                // of the process that the runtime does not count: data of the executable that is written
	heapStep        = 4 << 20                // a smaller change of the limit is not worth stopping the world
	heapPoll        = 500 * time.Millisecond //
	heapLive        = "/gc/heap/live:bytes"  // after the last collection
)

// HoldHeap keeps the process near memory until ctx ends: the collector runs early enough for a heap of memory and 12 MiB, however little it
// would find there. Nothing is refused when more lives than that; the limit then moves up with it, but never above process, which is what
// the process may take; 0: as much as it needs. A GOMEMLIMIT in the environment is the operator's word and stays. What only the start
// needed of the executable is given back first.
func HoldHeap(ctx context.Context, memory, process int64) {
	releaseProgram()
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := heapLimit(memory, process, 0)
	before := debug.SetMemoryLimit(limit)
	defer debug.SetMemoryLimit(before)
	live := []metrics.Sample{{Name: heapLive}}
	for backoff.Wait(ctx, heapPoll) == nil {
		metrics.Read(live)
		if want := heapLimit(memory, process, int64(live[0].Value.Uint64())); want > limit+heapStep || want < limit-heapStep {
			limit = want
			debug.SetMemoryLimit(limit)
		}
	}
}

// heapLimit is the limit for what lives now.
func heapLimit(memory, process, live int64) int64 {
	limit := max(memory+heapAboveMemory, live+live/heapRoom+heapOverhead)
	if process > 0 {
		limit = min(limit, process-notHeap)
	}
	return limit
}
