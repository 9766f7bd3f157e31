package indexer

import (
	"context"
	"errors"
	"slices"
	"time"
)

// owed is what a lane has given up, with the verdict retry, and will be submitted again. While a change is owed, later changes of its
// document wait, because otherwise of two changes with equal versions the earlier would be written last, and win.
type owed struct {
	debts map[uint64][]debt // by the op's hash
	sweep int               // the number of documents at which void debts are removed
}

// debt is one owed change.
type debt struct {
	offset int64           // of the change's record: later changes have greater ones
	ctx    context.Context // of its Submit: once this has ended, nobody submits the change again
	until  time.Time       // when the lane stops waiting: submitted again, the change may belong to another document
}

const (
	owedFor   = 15 * time.Minute // longer than the loop's longest pause
	sweepOwed = 1024
)

var errOwed = errors.New("an earlier change of the document was not written, and must be submitted again first")

func newOwed() owed { return owed{debts: map[uint64][]debt{}, sweep: sweepOwed} }

func (d *debt) void(now time.Time) bool { return d.ctx.Err() != nil || now.After(d.until) }

// add notes that an op has been given up.
func (w *owed) add(o *op, now time.Time) {
	if len(w.debts) >= w.sweep {
		for hash := range w.debts {
			w.keep(hash, now)
		}
		w.sweep = max(sweepOwed, 2*len(w.debts))
	}
	w.pay(o)
	w.debts[o.hash] = append(w.debts[o.hash], debt{o.offset, o.flight.ctx, now.Add(owedFor)})
}

// pay notes that an op is settled.
func (w *owed) pay(o *op) {
	if len(w.debts) == 0 {
		return
	}
	left := slices.DeleteFunc(w.debts[o.hash], func(d debt) bool { return d.offset == o.offset })
	if w.debts[o.hash] = left; len(left) == 0 {
		delete(w.debts, o.hash)
	}
}

// holds reports whether an earlier change of the op's document is owed.
func (w *owed) holds(o *op, now time.Time) bool {
	if len(w.debts) == 0 {
		return false
	}
	return slices.ContainsFunc(w.keep(o.hash, now), func(d debt) bool { return d.offset < o.offset })
}

// keep removes the void debts of one document and returns the others.
func (w *owed) keep(hash uint64, now time.Time) []debt {
	debts, ok := w.debts[hash]
	if !ok {
		return nil
	}
	if debts = slices.DeleteFunc(debts, func(d debt) bool { return d.void(now) }); len(debts) == 0 {
		delete(w.debts, hash)
		return nil
	}
	w.debts[hash] = debts
	return debts
}
