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

// holdHeap holds the heap of this process until ctx is done.
func (s *Service) holdHeap(ctx context.Context) {
	cfg := s.Config()
	Heap{Memory: int64(cfg.Memory), Process: int64(cfg.ProcessMemory), Servers: len(s.servers) > 0}.Hold(ctx)
}

// Hold keeps the process below h.Process until ctx is done. Without that bound it keeps it near h.Memory, by running the collector early
// enough for a heap of that and 12 MiB, however little it frees; if more than that is live, the limit grows with it. Nothing is refused
// either way. A GOMEMLIMIT in the environment takes precedence. Hold first releases the pages of the executable that only startup needed.
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

// limit returns the memory limit for the given size of the live heap. A process may use what it was given: the collector runs less often.
func (h Heap) limit(live int64) int64 {
	if h.Process > 0 {
		return h.Process - notHeap
	}
	room := live / heapRoom
	if h.Servers {
		room = max(room, min(live, serversRoom))
	}
	return max(h.Memory+heapAboveMemory, live+room+heapOverhead)
}
