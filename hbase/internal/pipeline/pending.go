package pipeline

import (
	"context"
	"fmt"
	"slices"
)

// A flight one of whose regions fails may take long to settle, while all else in it is durable. Its batch would be held for the
// few mutations that are left. So when all that is left of a flight is pending, which is to say that it waits in lanes that fail,
// the writer copies that into a small batch of the flight's own, and the caller has the submitted one again: the flight has
// stalled. Nothing of it is in a call then, so only the holder of the Writer's mutex reads the batch.
//
// A lane fails, in this sense, from its second failure in a row on: many regions are back before that.
const failingFrom = 2

// markFailing marks a lane that fails: what is in its queue is pending. back is what has just come back to it. w.mu is held.
func (w *Writer) markFailing(l *lane, back []entry) {
	if !l.failing {
		l.failing = true
		back = l.queue.items()
		for _, e := range back {
			e.flight.addPending(e.index)
		}
	}
	for i, e := range back {
		if i == 0 || e.flight != back[i-1].flight {
			w.stall(e.flight)
		}
	}
}

// unmarkFailing removes the mark.
func (l *lane) unmarkFailing() {
	if l.failing {
		l.failing = false
		removePending(l.queue.items())
	}
}

func (f *Flight) addPending(index int32) {
	f.mayStall.Store(true)
	f.pending++
	if f.kept == nil {
		f.waited = append(f.waited, index)
	}
}

func removePending(es []entry) {
	for _, e := range es {
		e.flight.pending--
	}
}

// stall releases a flight's batch if its caller asked for that and all that has no result is pending. w.mu is held.
func (w *Writer) stall(f *Flight) {
	if !f.stallable || f.pending == 0 || f.kept != nil || w.closed {
		return
	}
	f.mu.Lock()
	ready := f.unsettled == f.pending
	if ready {
		for _, e := range f.failed {
			f.waited = append(f.waited, int32(e.Index))
		}
	}
	f.mu.Unlock()
	if !ready {
		return
	}
	slices.Sort(f.waited)
	f.kept, f.waited = slices.Clip(slices.Compact(f.waited)), nil
	f.batch = f.batch.only(f.kept)
	close(f.stalled)
}

// position is where the mutation is in its flight's batch.
func (e entry) position() int {
	if e.flight.kept == nil {
		return int(e.index)
	}
	i, _ := slices.BinarySearch(e.flight.kept, e.index)
	return i
}

// WaitPending blocks until every mutation has its result, and then returns nil; or until nothing holds the others up but regions
// that fail, which may take long. Then it returns a batch of all mutations that are not known to be durable, and their indexes in
// the one that was submitted, ascending. The submitted batch is the caller's again; the new one is the client's until the flight
// is settled, and may be read. When ctx ends first it returns why, with what the flight waits for.
func (f *Flight) WaitPending(ctx context.Context) (pending *Batch, indexes []int32, err error) {
	select {
	case <-f.done:
		return nil, nil, nil
	default:
	}
	f.allowStall()
	select {
	case <-f.done:
		return nil, nil, nil
	case <-f.stalled:
		return f.batch, f.kept, nil
	case <-ctx.Done():
		return nil, nil, f.interrupted(ctx)
	}
}

// allowStall lets the writer release the flight's batch as soon as it can. Nothing is copied for callers that do not ask.
func (f *Flight) allowStall() {
	w := f.mutator.w
	w.mu.Lock()
	defer w.mu.Unlock()
	f.stallable = true
	w.stall(f)
}

// obstacle is why a flight has mutations without a result: the last failure of a lane that holds some, or a server that has not answered.
// It is nil when they only wait for their turn.
func (w *Writer) obstacle(f *Flight) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	ls := w.tables[f.table]
	if ls == nil {
		return nil
	}
	var silent error
	for _, l := range ls.all {
		if l.why != nil && f.among(l.queue.items()) {
			return l.why
		}
		for _, p := range l.unanswered {
			if f.among(p.entries) {
				silent = fmt.Errorf("%s has not answered yet", p.region.Server)
			}
		}
	}
	return silent
}

// among reports whether some entry is the flight's.
func (f *Flight) among(es []entry) bool {
	return slices.ContainsFunc(es, func(e entry) bool { return e.flight == f })
}
