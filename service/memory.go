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
	serversRoom     = 64 << 20 // with servers in the process, as much as is live, up to this: they allocate for every request
	notHeap         = 6 << 20  // process memory that the runtime does not count: written data pages of the executable
	heapGrowth      = 200      // GOGC: with little live, as when brine only answers questions, the heap uses the room below the limit
	heapStep        = 4 << 20  // a smaller change of the limit is not worth stopping the world
	heapPoll        = 500 * time.Millisecond
	heapLive        = "/gc/heap/live:bytes" // after the last collection
)

// Heap is what the heap of a process is held to.
type Heap struct {
	Memory  int64 // what the process holds for its work
	Process int64 // what it may use in all; 0: no bound
	Servers bool  // whether servers run in it
}

// Hold keeps the process near h.Memory until ctx is done, by running the collector early enough for a heap of that and 12 MiB, however
// little it frees. If more than that is live, nothing is refused: the limit grows with the live heap, but never above h.Process. A
// GOMEMLIMIT in the environment takes precedence. Hold first releases the pages of the executable that only startup needed.
func (h Heap) Hold(ctx context.Context) {
	releaseProgram()
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := h.limit(0)
	before := debug.SetMemoryLimit(limit)
	defer debug.SetMemoryLimit(before)
	if os.Getenv("GOGC") == "" && !h.Servers { // with servers, the limit is close to twice what is live anyway
		defer debug.SetGCPercent(debug.SetGCPercent(heapGrowth))
	}
	live := []metrics.Sample{{Name: heapLive}}
	for backoff.Wait(ctx, heapPoll) == nil {
		metrics.Read(live)
		if want := h.limit(int64(live[0].Value.Uint64())); want > limit+heapStep || want < limit-heapStep {
			limit = want
			debug.SetMemoryLimit(limit)
		}
	}
}

// limit returns the memory limit for the given size of the live heap.
func (h Heap) limit(live int64) int64 {
	room := live / heapRoom
	if h.Servers {
		room = max(room, min(live, serversRoom))
	}
	limit := max(h.Memory+heapAboveMemory, live+room+heapOverhead)
	if h.Process > 0 {
		limit = min(limit, h.Process-notHeap)
	}
	return limit
}
