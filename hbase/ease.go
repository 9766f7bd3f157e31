package hbase

import (
	"context"
	"fmt"
	"slices"
)

// A flight whose region fails may be out for long, while all else in it is durable. Its batch would be held for the few
// mutations that are left. So when all that is left of a flight waits in lanes that fail, the writer copies that into a small
// batch of the flight's own, and the caller has his again: the flight is eased. Nothing of it is on its way then, so nobody reads
// the batch but who holds the writer's mutex.
//
// A lane fails, in this sense, from its second failure in a row on: many a region is back before.
const illFrom = 2

// sicken marks a lane that fails: what is in its queue counts as stuck. back is what has just come back to it. w.mu is held.
func (w *writer) sicken(l *lane, back []entry) {
	if !l.ill {
		l.ill = true
		back = l.queue.items()
		for _, e := range back {
			e.flight.stick(e.index)
		}
	}
	for i, e := range back {
		if i == 0 || e.flight != back[i-1].flight {
			w.ease(e.flight)
		}
	}
}

// heal takes the mark off.
func (l *lane) heal() {
	if l.ill {
		l.ill = false
		unstick(l.queue.items())
	}
}

func (f *Flight) stick(index int32) {
	f.sick.Store(true)
	f.stuck++
	if f.kept == nil {
		f.waits = append(f.waits, index)
	}
}

func unstick(es []entry) {
	for _, e := range es {
		e.flight.stuck--
	}
}

// ease lets go of a flight's batch if its caller wants that and all that has no result is stuck. w.mu is held.
func (w *writer) ease(f *Flight) {
	if !f.wanted || f.stuck == 0 || f.kept != nil || w.closed {
		return
	}
	f.mu.Lock()
	ready := f.open == f.stuck
	if ready {
		for _, e := range f.failed {
			f.waits = append(f.waits, int32(e.Index))
		}
	}
	f.mu.Unlock()
	if !ready {
		return
	}
	slices.Sort(f.waits)
	f.kept, f.waits = slices.Clip(slices.Compact(f.waits)), nil
	f.batch = f.batch.only(f.kept)
	close(f.eased)
}

// place is where the mutation is in its flight's batch.
func (e entry) place() int {
	if e.flight.kept == nil {
		return int(e.index)
	}
	i, _ := slices.BinarySearch(e.flight.kept, e.index)
	return i
}

// Ease blocks until every mutation has its result, and then gives nil; or until all others wait for regions that fail, which
// may take long. Then it gives a batch of all mutations that are not known to be durable, and their indexes in the one
// that was submitted, ascending. The submitted batch is the caller's again; the new one is the client's until the flight is
// done, and may be read. When ctx ends first it returns why, with what the flight waits for.
func (f *Flight) Ease(ctx context.Context) (left *Batch, indexes []int32, err error) {
	select {
	case <-f.done:
		return nil, nil, nil
	default:
	}
	f.want()
	select {
	case <-f.done:
		return nil, nil, nil
	case <-f.eased:
		return f.batch, f.kept, nil
	case <-ctx.Done():
		return nil, nil, f.interrupted(ctx)
	}
}

// want has the writer ease the flight as soon as it can. Flights that nobody wants eased are not copied.
func (f *Flight) want() {
	w := f.mutator.c.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	f.wanted = true
	w.ease(f)
}

// obstacle is why a flight has mutations without a result: the last failure of a lane that holds some, or a server that has not answered.
// It is nil when they only wait for their turn.
func (w *writer) obstacle(f *Flight) error {
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
		for _, p := range l.out {
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
