package pipeline

import (
	"context"
	"sync"
	"time"

	"brine/hbase/internal/remote"
)

// FlushReason is why mutations left.
type FlushReason string

// The reasons.
const (
	FlushAuto   FlushReason = "autoflush" // by Submit itself
	FlushFull   FlushReason = "full"      // WriteBuffer was reached, or a Submit waited for room in the client's byte bound
	FlushLinger FlushReason = "linger"    // Linger was over
	FlushCalled FlushReason = "flush"     // by Flush
	FlushDrain  FlushReason = "drain"     // by Release
)

// FlushInfo is one flush of a mutator.
type FlushInfo struct {
	Reason FlushReason
	Bytes  int // of their cells
}

// MutatorOptions say when mutations leave and how often they are sent again.
type MutatorOptions struct {
	Autoflush   bool          // a mutation leaves as soon as its lane is free; else it may wait for WriteBuffer or Linger
	WriteBuffer int           // bytes of cells that are held back at most
	Linger      time.Duration // longest time that a mutation is held back
	Durability  Durability
	Retries     int
	Pauses      remote.Pauses
	Timeout     time.Duration // of a mutation with all of its tries
}

// Mutator submits with options of its own. All mutators of a pipeline share its lanes, calls and byte bound.
type Mutator struct {
	w    *Writer
	opts MutatorOptions

	mu        sync.Mutex
	unsettled map[*Flight]struct{} // some mutation has no result yet

	// The Writer's mutex guards these. Lanes that no longer linger may be listed, and a lane more than once; bytes counts theirs too.
	lingering []*lane
	bytes     int
	timer     *time.Timer // of the linger; set while lingering has any
	round     int         // of the timer
}

// Mutator returns a handle to submit with.
func (w *Writer) Mutator(o MutatorOptions) *Mutator {
	return &Mutator{w: w, opts: o, unsettled: make(map[*Flight]struct{})}
}

// Flush sends what is held back and waits until every mutation that was submitted before has its result, which its flight
// has. It returns ctx's error if ctx ends first; the mutations go on.
func (m *Mutator) Flush(ctx context.Context) error {
	m.mu.Lock()
	before := make([]*Flight, 0, len(m.unsettled))
	for f := range m.unsettled {
		before = append(before, f)
	}
	m.mu.Unlock()
	m.flush(FlushCalled)
	for _, f := range before {
		if _, err := f.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Release sends what is held back, and returns: for a caller who submits nothing more for now.
func (m *Mutator) Release() { m.flush(FlushDrain) }

// Hurry retries now what waits out a pause because its region or server failed: for a caller with little time left. It
// counts as any other try, of all that this client writes.
func (m *Mutator) Hurry() { m.w.hurry() }

// flush frees the lanes that the mutator holds back.
func (m *Mutator) flush(reason FlushReason) {
	w := m.w
	w.mu.Lock()
	bytes := w.endLinger(m)
	w.mu.Unlock()
	m.announce(FlushInfo{reason, bytes})
}

func (m *Mutator) announce(i FlushInfo) {
	if i.Bytes > 0 {
		m.w.hooks.Flush(i)
	}
}

// landed forgets a flight whose mutations all have their results.
func (m *Mutator) landed(f *Flight) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.unsettled, f)
}
