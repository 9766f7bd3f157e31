package pipeline

import (
	"context"
	"fmt"
	"slices"
)

// If a region of a flight fails, the flight may take long to settle while everything else in it is durable, and its whole batch would be
// held for the few remaining mutations. So when all that remains of a flight is pending, that is, waits in failing lanes, the writer copies
// it to a small batch of the flight's own and returns the submitted batch to the caller: the flight has stalled. None of its mutations is
// in a call then, so only the holder of the Writer's mutex reads the batch.
//
// A lane counts as failing from its second consecutive failure: many regions are back before that.
const failingFrom = 2

// markFailing marks a lane as failing: the mutations in its queue are pending. back holds the ones that have just returned to it. The
// caller holds w.mu.
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

// stall releases a flight's batch if its caller asked for that and all mutations without a result are pending. The caller holds w.mu.
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

// position returns the mutation's index in its flight's batch.
func (e entry) position() int {
	if e.flight.kept == nil {
		return int(e.index)
	}
	i, _ := slices.BinarySearch(e.flight.kept, e.index)
	return i
}

// WaitPending blocks until every mutation has its result, and then returns nil; or until only failing regions, which may take long, hold up
// the others. In the latter case, it returns a batch of all mutations that are not known to be durable, and their indexes in the submitted
// batch in ascending order. The submitted batch then belongs to the caller again. The new batch belongs to the client until the flight is
// settled, but may be read. If ctx ends first, WaitPending returns why, and what the flight is waiting for.
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

// allowStall allows the writer to release the flight's batch as soon as it can. Nothing is copied for callers that do not ask for it.
func (f *Flight) allowStall() {
	w := f.mutator.w
	w.mu.Lock()
	defer w.mu.Unlock()
	f.stallable = true
	w.stall(f)
}

// obstacle returns why a flight has mutations without a result: the last failure of a lane that holds some of them, or a server that has
// not answered. It returns nil if they only wait for their turn.
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

// among reports whether es has an entry of the flight.
func (f *Flight) among(es []entry) bool {
	return slices.ContainsFunc(es, func(e entry) bool { return e.flight == f })
}
