package hbase

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"brine/internal/backoff"
)

// locate finds the region of a row in a lane, however long that takes, and carves the lane accordingly. In a long pause it looks now
// and then; that counts against no retries.
func (w *writer) locate(l *lane) {
	for failures := 0; ; failures++ {
		e, to, ok := w.first(l)
		if !ok {
			return
		}
		err := w.seek(l, to, failures > 1)
		if err == nil {
			return
		}
		d := diagnose(err)
		pause := e.flight.mutator.call.pause(d, failures)
		if gone := w.abandon(l, err, d, failures+1, pause); gone {
			return
		}
		if hook := w.c.opts.Hooks.Retry; hook != nil {
			hook(retryInfo(l.table, nil, d, pause, 0, failures+1, err))
		}
		for ; pause > lookAfter; pause -= lookAfter {
			if backoff.Wait(w.c.ctx, lookAfter) != nil {
				return // closed
			}
			if _, to, ok = w.first(l); !ok || w.seek(l, to, false) == nil {
				return
			}
		}
		if backoff.Wait(w.c.ctx, pause) != nil {
			return // closed
		}
	}
}

// target is what to look up for a lane.
type target struct {
	wanted
	wide bool // the lane may be of many regions
	sick bool // its region fails
}

// seek looks a lane up and places it. Of many regions any is good enough: the others do not wait for one that is on no server.
func (w *writer) seek(l *lane, to target, suspect bool) error {
	found, err := w.find(l.table, to, suspect)
	if err != nil && (!to.wide || !slices.ContainsFunc(found, l.overlaps)) {
		return err
	}
	w.place(l, found)
	return nil
}

// find looks a row up, and makes sure that a failing region's table has not been disabled.
func (w *writer) find(table string, to target, suspect bool) ([]*Region, error) {
	ctx, cancel := context.WithTimeout(w.c.ctx, w.c.opts.OperationTimeout)
	defer cancel()
	if (suspect || to.sick) && table != metaTable {
		if disabled, err := w.c.locator.tableDisabled(ctx, table); err == nil && disabled {
			return nil, fmt.Errorf("%w: %s", ErrDisabled, table)
		}
	}
	return w.c.locator.findWith(ctx, table, to.wanted)
}

// first returns the first mutation of a lane that is being located, and the row to look up, unless there is nothing to locate
// it for any more. That is the mutation's own row, but in a lane of many regions the greatest that is queued: a look-up brings
// what lies before it. Lanes behind that are to be located as well, because they fail together, have their regions read with this one's.
func (w *writer) first(l *lane) (e entry, to target, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.dead || w.closed || l.queue.len() == 0 {
		l.locating = false
		return entry{}, target{}, false
	}
	e = *l.queue.at(0)
	to = target{wide: l.wide, sick: l.failures > 1}
	to.row = e.row()
	if l.wide {
		queued := l.queue.items()
		queued = queued[:min(len(queued), maxPrefetch)]
		for _, e := range queued {
			if bytes.Compare(e.row(), to.row) > 0 {
				to.row = e.row()
			}
		}
		to.more = len(queued)
	} else {
		to.from, to.more = w.tables[l.table].lostBehind(l)
	}
	to.row = bytes.Clone(to.row) // Close may end the flight meanwhile
	return e, to, true
}

// place gives a lane the regions that were found for it, the first of them last: it contains the row that was looked up.
func (w *writer) place(l *lane, found []*Region) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.locating = false
	if l.dead {
		return // its heirs have been woken
	}
	awake := []*lane{l}
	for _, r := range slices.Backward(found) {
		if l.overlaps(r) {
			awake = append(awake, w.tables[l.table].carve(r)...)
		}
	}
	for _, heir := range awake[1:] {
		if heir.failures >= illFrom && !heir.dead {
			w.sicken(heir, nil)
		}
	}
	w.wake(awake...)
}

// abandon fails what a look-up's failure is final for: everything in the lane if the remedy is to give up, else those
// whose retries and time are spent. It tells whether nothing is left to look up.
func (w *writer) abandon(l *lane, err error, d diagnosis, failures int, pause time.Duration) (gone bool) {
	final := d.final()
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
		if l.ill {
			unstick(out)
		}
		l.queue.replace(left)
		l.isolation = isolation{}
		l.makeRoom()
	}
	gone = len(left) == 0
	if gone {
		l.locating = false
	}
	if failures >= illFrom && !gone {
		w.sicken(l, nil)
	}
	w.mu.Unlock()
	for _, e := range out {
		w.settle([]entry{e}, mutationError(e, d, "", err))
	}
	return gone
}
