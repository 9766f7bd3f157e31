package hbase

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"brine/internal/backoff"
)

// locate finds the region of a row in a lane, however long that takes, and carves the lane accordingly. In a long pause it looks now
// and then; that counts against no retries.
func (w *writer) locate(l *lane) {
	for failures := 0; ; failures++ {
		e, far, ok := w.first(l)
		if !ok {
			return
		}
		r, err := w.find(l.table, far, failures > 1)
		if err == nil {
			w.place(l, r)
			return
		}
		d := diagnose(err)
		pause := e.flight.mutator.call.pause(d, failures)
		if gone := w.abandon(l, err, d, failures+1, pause); gone {
			return
		}
		if hook := w.c.opts.Hooks.Retry; hook != nil {
			hook(retryInfo(l.table, nil, d, pause, 0))
		}
		for ; pause > lookAfter; pause -= lookAfter {
			if backoff.Wait(w.c.ctx, lookAfter) != nil {
				return // closed
			}
			if r, err := w.find(l.table, far, false); err == nil {
				w.place(l, r)
				return
			}
		}
		if backoff.Wait(w.c.ctx, pause) != nil {
			return // closed
		}
	}
}

// target is a row to look up, and how many regions before it are wanted as well.
type target struct {
	row  []byte
	more int
	sick bool // its region fails
}

// find looks a row up, and makes sure that a failing region's table has not been disabled.
func (w *writer) find(table string, to target, suspect bool) (*Region, error) {
	ctx, cancel := context.WithTimeout(w.c.ctx, w.c.opts.OperationTimeout)
	defer cancel()
	if (suspect || to.sick) && table != metaTable {
		if disabled, err := w.c.locator.tableDisabled(ctx, table); err == nil && disabled {
			return nil, fmt.Errorf("%w: %s", ErrDisabled, table)
		}
	}
	return w.c.locator.findWith(ctx, table, to.row, to.more)
}

// first gives the first mutation of a lane that is being located, and the row to look up, unless there is nothing to locate
// it for any more. That is the mutation's own row, but in a lane of many regions the greatest that is queued: a look-up brings
// what lies before it.
func (w *writer) first(l *lane) (e entry, to target, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.dead || w.closed || l.queue.len() == 0 {
		l.locating = false
		return entry{}, target{}, false
	}
	e = *l.queue.at(0)
	to = target{row: e.row(), sick: l.failures > 1}
	if l.wide {
		queued := l.queue.items()
		queued = queued[:min(len(queued), maxPrefetch)]
		for _, e := range queued {
			if bytes.Compare(e.row(), to.row) > 0 {
				to.row = e.row()
			}
		}
		to.more = len(queued)
	}
	to.row = bytes.Clone(to.row) // Close may end the flight meanwhile
	return e, to, true
}

// place gives a lane the region that was found for it.
func (w *writer) place(l *lane, r *Region) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.locating = false
	if l.dead {
		return // its heirs have been woken
	}
	fresh := w.tables[l.table].carve(r)
	for _, heir := range fresh {
		if heir.failures >= illFrom {
			w.sicken(heir, nil)
		}
	}
	w.wake(append(fresh, l)...)
}

// abandon fails what a look-up's failure is final for: everything in the lane if the remedy is to give up, else those
// whose retries and time are spent. It tells whether nothing is left to look up.
func (w *writer) abandon(l *lane, err error, d diagnosis, failures int, pause time.Duration) (gone bool) {
	final := d.final()
	var out, left []entry
	w.mu.Lock()
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
