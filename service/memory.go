package service

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"brine/internal/backoff"
)

// The garbage collector alone lets the heap grow to twice the live heap. Nearly all of that would be idle pages here, because a loop at
// full rate reuses its buffers and allocates little.
const (
	heapAboveMemory = 12 << 20 // what brine needs besides memory: tables, stacks, room for the collector
	heapOverhead    = 8 << 20  // runtime overhead
	heapRoom        = 4        // the collector gets at least a quarter of the live heap, or it would run all the time
	notHeap         = 6 << 20  // process memory that the runtime does not count: written data pages of the executable
	heapStep        = 4 << 20  // a smaller change of the limit is not worth stopping the world
	heapPoll        = 500 * time.Millisecond
	heapLive        = "/gc/heap/live:bytes" // after the last collection
)

// HoldHeap keeps the process near memory until ctx is done, by running the collector early enough for a heap of memory and 12 MiB, however
// little it frees. If more than that is live, nothing is refused: the limit grows with the live heap, but never above process, which is
// what the process may use (0: no bound). A GOMEMLIMIT in the environment takes precedence. HoldHeap first releases the pages of the
// executable that only startup needed.
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

// heapLimit returns the memory limit for the given size of the live heap.
func heapLimit(memory, process, live int64) int64 {
	limit := max(memory+heapAboveMemory, live+live/heapRoom+heapOverhead)
	if process > 0 {
		limit = min(limit, process-notHeap)
	}
	return limit
}
