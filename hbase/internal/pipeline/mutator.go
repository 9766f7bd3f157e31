package pipeline

import (
	"context"
	"sync"
	"time"

	"brine/hbase/internal/remote"
)

// FlushReason is why mutations were sent.
type FlushReason string

// The reasons for a flush.
const (
	FlushAuto   FlushReason = "autoflush" // by Submit itself
	FlushFull   FlushReason = "full"      // WriteBuffer was reached, or a Submit waited for room in the client's byte bound
	FlushLinger FlushReason = "linger"    // Linger had passed
	FlushCalled FlushReason = "flush"     // by Flush
	FlushDrain  FlushReason = "drain"     // by Release
)

// FlushInfo describes one flush of a mutator.
type FlushInfo struct {
	Reason FlushReason
	Bytes  int // of the cells
}

// MutatorOptions say when mutations are sent and how often they are retried.
type MutatorOptions struct {
	Autoflush   bool          // send a mutation as soon as its lane is free; otherwise it may wait for WriteBuffer or Linger
	WriteBuffer int           // limit on bytes of cells held back
	Linger      time.Duration // longest time that a mutation is held back
	Durability  Durability
	Retries     int
	Pauses      remote.Pauses
	Timeout     time.Duration // for a mutation with all of its tries
}

// Mutator submits with its own options. All mutators of a pipeline share its lanes, calls and byte bound.
type Mutator struct {
	w    *Writer
	opts MutatorOptions

	mu        sync.Mutex
	unsettled map[*Flight]struct{} // flights with mutations that have no result yet

	// Guarded by the Writer's mutex. lingering may list lanes that no longer linger, and a lane more than once; bytes counts theirs too.
	lingering []*lane
	bytes     int
	timer     *time.Timer // ends the linger; set while lingering is not empty
	round     int         // of the timer
}

// Mutator returns a new Mutator.
func (w *Writer) Mutator(o MutatorOptions) *Mutator {
	return &Mutator{w: w, opts: o, unsettled: make(map[*Flight]struct{})}
}

// Flush sends what is held back and waits until every mutation submitted before has its result, which its flight holds. If ctx ends first,
// Flush returns its error, and the mutations continue.
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

// Release sends what is held back and returns. It is for callers that submit nothing more for now.
func (m *Mutator) Release() { m.flush(FlushDrain) }

// Hurry retries at once the mutations that are waiting out a pause because their region or server failed. It is for callers with little
// time left. The retry counts like any other, and Hurry affects everything that this client writes.
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
