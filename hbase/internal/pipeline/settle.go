package pipeline

import (
	"errors"
	"time"

	"brine/hbase/internal/remote"
)

// report passes what was applied to the hook, and results to flights: in this order, since a flight's rows are its submitter's again
// once it is done.
func (w *Writer) report(o *outcome, took time.Duration) {
	if len(o.applied) > 0 {
		bytes := 0
		for _, e := range o.applied {
			bytes += e.size()
		}
		region := o.part.region
		o.info = AppliedInfo{Table: region.Table, Region: region, Rows: len(o.applied), Bytes: bytes, Duration: took, applied: o.applied}
		w.hooks.Applied(&o.info)
	}
	for es := o.applied; len(es) > 0; {
		n := 1
		for n < len(es) && es[n].flight == es[0].flight {
			n++
		}
		w.settle(es[:n])
		es = es[n:]
	}
	for i, e := range o.refused {
		w.settle([]entry{e}, o.failed[i])
	}
}

// settle passes results to the flight of mutations that have one in common: those in errs have failed, the others are durable.
// Their bytes return to the bound.
func (w *Writer) settle(es []entry, errs ...MutationError) {
	if len(es) == 0 {
		return
	}
	size := 0
	for _, e := range es {
		size += e.size()
	}
	f := es[0].flight
	w.account(-size) // first, so that the count never shows more than the bound
	w.budget.Release(int64(f.weigh(size)))
	f.settle(len(es), errs...)
	if f.mayStall.Load() {
		w.mu.Lock()
		w.stall(f)
		w.mu.Unlock()
	}
}

func (w *Writer) account(delta int) {
	n := w.buffered.Add(int64(delta))
	if delta != 0 {
		w.hooks.Buffered(BufferedInfo{int(n)})
	}
}

// failures are those of mutations whose last error is not the server's.
func failures(es []entry, err error) []MutationError {
	errs := make([]MutationError, len(es))
	for i, e := range es {
		kind := remote.Transient
		if errors.Is(err, remote.ErrClosed) && e.attempts == 0 {
			kind = remote.Closed
		}
		errs[i] = MutationError{Index: int(e.index), Kind: kind, Attempts: e.tries(), Err: err}
	}
	return errs
}
