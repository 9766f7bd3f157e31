package ingest

import (
	"context"
	"fmt"
	"sync"

	"brine/event"
	"brine/ingest/deadletter"
)

// AllRejected is why a partition halts after too many rejects in a row: the pipeline is probably wrong, not its records.
const AllRejected event.Reason = "all_rejected"

// rejects counts, over the partitions of a Loop, the records rejected since the last one written, and lets no more pass once the count
// reaches Options.HaltAfterRejects. Each commit carries the count of its partition, so that it survives a restart; a crash may count some
// rejects twice.
//
// Flights land in any order. So while a flight may still turn out to be written, no reject counts as the last of too many: it waits. And
// rejects of flights that took off before one that is written do not count, however late they land.
type rejects struct {
	limit int // 0: none

	mu        sync.Mutex
	counts    map[int]int   // by partition
	flights   int           // number that have taken off
	written   int           // the latest of them, in that order, of which something was written
	undecided int           // flights of which nothing is known to be written yet
	waiting   int           // number of callers of admit
	changed   chan struct{} // closed when a flight is decided and somebody waits
	halted    error         // why the Loop is halted; nil if it is not
}

func newRejects(limit int) *rejects {
	return &rejects{limit: limit, counts: map[int]int{}, changed: make(chan struct{})}
}

// reset starts over with the counts of other partitions.
func (r *rejects) reset(counts map[int]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts, r.halted = counts, nil
}

// begin adds the count of another partition; forget removes it.
func (r *rejects) begin(partition, count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[partition] = count
}

func (r *rejects) forget(partition int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.counts, partition)
	r.halted = nil // a partition that still has a reason to halt finds it again
}

// of returns the count of a partition.
func (r *rejects) of(partition int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[partition]
}

// sumLocked returns the counts of all partitions together.
func (r *rejects) sumLocked() (n int) {
	for _, of := range r.counts {
		n += of
	}
	return n
}

// why returns the error of admit in force, or nil.
func (r *rejects) why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.halted
}

// takeOff returns the order of a flight. mayBeWritten reports whether the flight may still be written.
func (r *rejects) takeOff(mayBeWritten bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if mayBeWritten {
		r.undecided++
	}
	r.flights++
	return r.flights
}

// decided notes whether anything was written of a flight that might be.
func (r *rejects) decided(flight int, written bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.undecided--
	if written {
		clear(r.counts)
		r.written, r.halted = max(r.written, flight), nil
	}
	if r.waiting > 0 {
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// tryAdmit counts n rejected records of a flight and returns true. It counts nothing and returns false if they would be too many.
func (r *rejects) tryAdmit(partition, flight, n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tryAdmitLocked(partition, flight, n)
}

func (r *rejects) tryAdmitLocked(partition, flight, n int) bool {
	if r.limit == 0 || n == 0 || flight < r.written {
		return true
	}
	if r.sumLocked()+n >= r.limit {
		return false
	}
	r.counts[partition] += n
	return true
}

// admit counts rejected records of a flight of which nothing was written. If they are too many, it waits until no other flight can be
// written, or ctx ends, and then returns an error.
func (r *rejects) admit(ctx context.Context, partition, flight int, letters []deadletter.Letter) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.tryAdmitLocked(partition, flight, len(letters)) {
		if r.undecided == 0 {
			r.halted = tooManyRejects(r.sumLocked()+len(letters), &letters[0])
			return r.halted
		}
		if err := r.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wait waits, without the lock, until a flight is decided or ctx ends.
func (r *rejects) wait(ctx context.Context) error {
	changed := r.changed
	r.waiting++
	r.mu.Unlock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
	r.mu.Lock()
	r.waiting--
	return ctx.Err()
}

const maxShownDetail = 200 // bytes of a dead letter's detail

func tooManyRejects(n int, l *deadletter.Letter) error {
	why := fmt.Sprintf("partition %d, offset %d: %s", l.Record.Partition, l.Record.Offset, l.Reason)
	for _, more := range []string{l.Field, l.Detail} {
		if more != "" {
			why += fmt.Sprintf(": %q", more[:min(len(more), maxShownDetail)])
		}
	}
	return fmt.Errorf("%d records in a row were rejected and none was written, such as %s; nothing more is committed: correct the pipeline "+
		"and restart, or set halt_after_rejects to let it continue", n, why)
}

// decide notes what is finally known of the flight: something of it is written, or nothing more will be.
func (s *stream) decide(f *flight, written bool) {
	f.written = f.written || written
	if f.undecided {
		f.undecided = false
		s.rejects.decided(f.order, written)
	}
}

// reject buries the rejected records of a decided flight, unless they are too many.
func (s *stream) reject(f *flight, letters []deadletter.Letter) bool {
	if len(letters) > 0 && !f.written {
		if err := s.rejects.admit(s.drain, s.id, f.order, letters); err != nil {
			if s.drain.Err() == nil {
				s.halt(&haltError{AllRejected, err})
			}
			return false
		}
	}
	f.rejected += len(letters)
	return s.bury(letters)
}
