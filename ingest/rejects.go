package ingest

import (
	"context"
	"fmt"
	"sync"

	"brine/event"
	"brine/ingest/deadletter"
)

// AllRejected is why a partition halts when too many records in a row were rejected: the pipeline is likely wrong, not its records.
const AllRejected event.Reason = "all_rejected"

// rejects counts the records that were rejected since the last one that was written, over the partitions of a Loop, and lets no more
// pass once they are Options.HaltAfterRejects. Each commit carries the count of its partition, so that it survives a restart; a crash
// may count some of them twice.
//
// Flights land in any order. So while one may still turn out to be written, none counts as the last of too many: it waits. And what took
// off before one that is written is not counted, however late it lands.
type rejects struct {
	limit int // 0: none

	mu        sync.Mutex
	counts    map[int]int   // by partition
	flights   int           // that have taken off
	written   int           // the last of them, in that order, with something written
	undecided int           // flights with nothing known to be written yet
	waiting   int           // callers of admit
	changed   chan struct{} // closed when a flight is decided and somebody waits
	halted    error         // why the Loop is halted; nil: it is not
}

func newRejects(limit int) *rejects {
	return &rejects{limit: limit, counts: map[int]int{}, changed: make(chan struct{})}
}

// reset begins with the counts of other partitions.
func (r *rejects) reset(counts map[int]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts, r.halted = counts, nil
}

// begin begins with the count of one more partition, and forget without one.
func (r *rejects) begin(partition, count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[partition] = count
}

func (r *rejects) forget(partition int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.counts, partition)
	r.halted = nil // a partition that still has a reason finds it again
}

// of is the count of a partition.
func (r *rejects) of(partition int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[partition]
}

func (r *rejects) sum() (n int) {
	for _, of := range r.counts {
		n += of
	}
	return n
}

// why is the error of admit that applies; nil: none does.
func (r *rejects) why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.halted
}

// takeOff returns the number of a flight, which may be written or not.
func (r *rejects) takeOff(mayBeWritten bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if mayBeWritten {
		r.undecided++
	}
	r.flights++
	return r.flights
}

// decided notes whether something of a flight that might be written was.
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

// room counts n rejected records of a flight, if they are not too many.
func (r *rejects) room(partition, flight, n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.add(partition, flight, n)
}

func (r *rejects) add(partition, flight, n int) bool {
	if r.limit == 0 || n == 0 || flight < r.written {
		return true
	}
	if r.sum()+n >= r.limit {
		return false
	}
	r.counts[partition] += n
	return true
}

// admit counts rejected records of a flight with nothing written. If they are too many it waits until no other flight can be
// written, or ctx ends, and then returns an error.
func (r *rejects) admit(ctx context.Context, partition, flight int, letters []deadletter.Letter) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.add(partition, flight, len(letters)) {
		if r.undecided == 0 {
			r.halted = tooManyRejects(r.sum()+len(letters), &letters[0])
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

const maxShownDetail = 200 // bytes of what a dead letter says

func tooManyRejects(n int, l *deadletter.Letter) error {
	why := fmt.Sprintf("partition %d, offset %d: %s", l.Record.Partition, l.Record.Offset, l.Reason)
	for _, more := range []string{l.Field, l.Detail} {
		if more != "" {
			why += fmt.Sprintf(": %q", more[:min(len(more), maxShownDetail)])
		}
	}
	return fmt.Errorf("%d records in a row were rejected and none was written, such as %s; no more are committed: correct the pipeline "+
		"and start again, or let it go on with halt_after_rejects", n, why)
}

// decide records what is finally known of the flight: that something of it is written, or that nothing more will be.
func (s *stream) decide(f *flight, written bool) {
	f.written = f.written || written
	if f.undecided {
		f.undecided = false
		s.rejects.decided(f.order, written)
	}
}

// reject buries what is rejected of a flight that is decided, if it is not too much.
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
