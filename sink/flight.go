package sink

import (
	"context"
	"slices"
	"time"

	"brine/event"
	"brine/hbase"
)

// flight is a batch of events until all of their rows are settled.
type flight struct {
	sink     *Sink
	draft    *draft // nil once its buffers have been released
	parts    []part // not judged yet: the draft's parts or, once the flight has stalled, its own; nil once the flight is settled
	failures []event.Failure
}

// Wait implements event.Flight.
func (f *flight) Wait(ctx context.Context, until event.Until) (event.Outcome, error) {
	if until == event.Stalled && f.draft != nil {
		if o, err := f.stall(ctx); err != nil || len(o.Pending) > 0 {
			return o, err
		}
	}
	for i := range f.parts {
		if err := f.parts[i].wait(ctx); err != nil {
			return event.Outcome{}, err
		}
	}
	f.settle()
	return event.Outcome{Failures: f.failures}, nil
}

// settle judges what failed, keeps one failure per event, and releases the buffers.
func (f *flight) settle() {
	if f.parts == nil {
		return
	}
	now := f.sink.opts.Now()
	for i := range f.parts {
		if p := &f.parts[i]; p.done {
			f.settlePart(p, now)
		}
	}
	f.failures = event.Worst(f.failures)
	f.giveBack()
	f.parts = nil
}

// settlePart judges a part whose rows are all done, and reports them.
func (f *flight) settlePart(p *part, now time.Time) {
	f.sink.reportDurable(p)
	f.failures = append(f.failures, f.sink.judge(p, now)...)
	f.sink.reportSpread(p)
}

// reportDurable reports the rows of a part, including failed ones, because they may have been applied.
func (s *Sink) reportDurable(p *part) {
	if hook := s.opts.Hooks.Durable; hook != nil && p.batch != nil && p.batch.Len() > 0 {
		hook(DurableInfo{Table: p.table.Name, Rows: p.batch})
	}
}

func (f *flight) giveBack() {
	if f.draft != nil {
		f.draft.release()
		f.draft = nil
	}
}

// wait waits for the client's flight.
func (p *part) wait(ctx context.Context) error {
	if p.done || p.flight == nil {
		return nil
	}
	errs, err := p.flight.Wait(ctx)
	if err != nil {
		return err
	}
	if p.from != nil {
		for i := range errs {
			at, _ := slices.BinarySearch(p.from, int32(errs[i].Index))
			errs[i].Index = at
		}
	}
	p.errs, p.done = errs, true
	return nil
}

// verdicts holds the verdict and reason for each kind of failure that depends on one mutation alone. For hbase.Refused the neighbours
// decide.
var verdicts = map[hbase.Kind]struct {
	verdict event.Verdict
	reason  event.Reason
}{
	hbase.Transient: {event.Retry, event.Unavailable},
	hbase.Closed:    {event.Retry, event.Unavailable},
	hbase.BadRow:    {event.Reject, event.TooLarge},
	hbase.NoTable:   {event.Halt, event.NoTable},
	hbase.Denied:    {event.Halt, event.Denied},
}
