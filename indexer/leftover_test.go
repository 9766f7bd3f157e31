package indexer_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// TestClosedWritersLeaveNothing checks that a closed writer holds no memory, whatever it has written: neither its buffers, nor the
// documents that it held for the next change. goleak checks its goroutines.
func TestClosedWritersLeaveNothing(t *testing.T) {
	m := newMemory()
	text := strings.Repeat("x", 10_000)
	use := func(writers int) {
		for range writers {
			w := newWriter(t, m, indexer.Partial, nil)
			for i := range 20 {
				if failures, err := event.Settle(t.Context(), submit(w, indexertest.Event(1, fmt.Sprint("o", i), text))); err != nil || len(failures) > 0 {
					t.Fatalf("failures %v, error %v", failures, err)
				}
			}
			w.Close()
			m.log = nil
		}
	}
	heap := func() int64 {
		var s runtime.MemStats
		for range 3 { // sync.Pool keeps its contents over one collection
			runtime.GC()
		}
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	use(5)
	before := heap()
	use(50)
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("50 writers of 200 kB each have left %d bytes", grown)
	}
}
