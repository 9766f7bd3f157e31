package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/internal/backoff"
)

// locate finds the region of a row in a lane, however long that takes, and carves the lane accordingly. In a long pause it looks now and
// then, which does not count against any retries.
func (w *Writer) locate(l *lane) {
	for failures := 0; ; failures++ {
		e, to, ok := w.nextTarget(l)
		if !ok {
			return
		}
		err := w.locateOnce(l, to, failures > 1)
		if err == nil {
			return
		}
		d := remote.Diagnose(err)
		pause := e.flight.mutator.opts.Pauses.For(d, failures)
		if gone := w.failLocating(l, err, d, failures+1, pause); gone {
			return
		}
		w.hooks.Retry(NewRetryInfo(l.table, nil, d, pause, 0, failures+1, err))
		for ; pause > lookAfter; pause -= lookAfter {
			if backoff.Wait(w.env.Ctx, lookAfter) != nil {
				return // closed
			}
			if _, to, ok = w.nextTarget(l); !ok || w.locateOnce(l, to, false) == nil {
				return
			}
		}
		if backoff.Wait(w.env.Ctx, pause) != nil {
			return // closed
		}
	}
}

// target is what to look up for a lane.
type target struct {
	locate.Wanted
	wide    bool // the lane may have many regions
	failing bool // the lane's region fails
}

// nextTarget returns the first mutation of a lane that is being located and the row to look up; ok is false if there is nothing left to
// locate the lane for. The row is the mutation's own, or the greatest queued row if the lane has many regions, because a look-up also reads
// what precedes the row. Following lanes that must be located too are read in the same look-up, because lanes fail together.
func (w *Writer) nextTarget(l *lane) (e entry, to target, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.state == dead || w.closed || l.queue.len() == 0 {
		l.leave(locating)
		return entry{}, target{}, false
	}
	e = *l.queue.at(0)
	to = target{wide: l.wide, failing: l.failures > 1}
	to.Row = e.row()
	if l.wide {
		queued := l.queue.items()
		queued = queued[:min(len(queued), locate.MaxPrefetch)]
		for _, e := range queued {
			if bytes.Compare(e.row(), to.Row) > 0 {
				to.Row = e.row()
			}
		}
		to.More = len(queued)
	} else {
		to.From, to.More = w.tables[l.table].lostBehind(l)
	}
	to.Row = bytes.Clone(to.Row) // Close may end the flight meanwhile
	return e, to, true
}

// locateOnce looks up a lane and places it. In a lane of many regions, any region will do: the others do not wait for one that is on no
// server.
func (w *Writer) locateOnce(l *lane, to target, suspect bool) error {
	found, err := w.find(l.table, to, suspect)
	if err != nil && (!to.wide || !slices.ContainsFunc(found, l.overlaps)) {
		return err
	}
	w.assign(l, found)
	return nil
}

// find looks up a row. If the region is failing, it first checks that the table is not disabled.
func (w *Writer) find(table string, to target, suspect bool) ([]*locate.Region, error) {
	ctx, cancel := context.WithTimeout(w.env.Ctx, w.opts.OperationTimeout)
	defer cancel()
	if (suspect || to.failing) && table != locate.MetaTable {
		if disabled, err := w.env.Disabled(ctx, table); err == nil && disabled {
			return nil, fmt.Errorf("%w: %s", remote.ErrDisabled, table)
		}
	}
	return w.env.FindAround(ctx, table, to.Wanted)
}

// assign carves a lane by the regions found for it, the first region last: it contains the row that was looked up.
func (w *Writer) assign(l *lane, found []*locate.Region) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.leave(locating)
	if l.state == dead {
		return // its heirs have been woken
	}
	awake := []*lane{l}
	for _, r := range slices.Backward(found) {
		if l.overlaps(r) {
			awake = append(awake, w.tables[l.table].carve(r)...)
		}
	}
	for _, heir := range awake[1:] {
		if heir.failures >= failingFrom && heir.state != dead {
			w.markFailing(heir, nil)
		}
	}
	w.schedule(awake...)
}

// failLocating fails the mutations for which a failed look-up is final: all of the lane if the remedy is to give up, otherwise those whose
// retries and time are used up. It reports whether nothing is left to look up.
func (w *Writer) failLocating(l *lane, err error, d remote.Diagnosis, failures int, pause time.Duration) (gone bool) {
	final := d.Final()
	var out, left []entry
	w.mu.Lock()
	l.why = err
	for _, e := range l.queue.items() {
		e.attempts += int16(failures)
		if final || e.spent(pause) {
			out = append(out, e)
			l.bytes -= e.size()
			continue
		}
		e.attempts -= int16(failures)
		left = append(left, e)
	}
	if len(out) > 0 {
		if l.failing {
			removePending(out)
		}
		l.queue.replace(left)
		l.isolation = isolation{}
		l.makeRoom()
	}
	gone = len(left) == 0
	if gone {
		l.leave(locating)
	}
	if failures >= failingFrom && !gone {
		w.markFailing(l, nil)
	}
	w.mu.Unlock()
	for _, e := range out {
		w.settle([]entry{e}, mutationError(e, d, "", err))
	}
	return gone
}
