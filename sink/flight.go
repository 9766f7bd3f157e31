package sink

import (
	"cmp"
	"context"
	"slices"

	"brine/event"
	"brine/hbase"
)

// flight is a batch of events until all of their rows are settled.
type flight struct {
	sink     *Sink
	draft    *draft // nil once the flight is done
	failures []event.Failure
}

// Wait implements event.Flight.
func (f *flight) Wait(ctx context.Context) ([]event.Failure, error) {
	if f.draft == nil {
		return f.failures, nil
	}
	for i := range f.draft.parts {
		p := &f.draft.parts[i]
		if p.done || p.flight == nil {
			continue
		}
		errs, err := p.flight.Wait(ctx)
		if err != nil {
			return nil, err
		}
		p.errs, p.done = errs, true
	}
	f.settle()
	return f.failures, nil
}

// settle judges what failed, one failure an event, and gives the buffers back.
func (f *flight) settle() {
	now := f.sink.opts.Now()
	for i := range f.draft.parts {
		if p := &f.draft.parts[i]; p.done {
			f.failures = append(f.failures, f.sink.judge(p, now)...)
			if len(p.spread) > 0 {
				p.countBuckets()
				f.sink.opts.Hooks.Spread(p.table.Name, p.spread)
			}
		}
	}
	f.failures = worst(f.failures)
	f.draft.release()
	f.draft = nil
}

// worst keeps one failure for each event, in order of events. Halt comes before Retry, since retrying cannot help, and Retry
// before Reject, so that every table that takes the event has it before it is a dead letter.
func worst(failures []event.Failure) []event.Failure {
	rank := func(v event.Verdict) int {
		return slices.Index([]event.Verdict{event.Halt, event.Retry, event.Reject}, v)
	}
	slices.SortStableFunc(failures, func(a, b event.Failure) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(rank(a.Verdict), rank(b.Verdict)))
	})
	return slices.CompactFunc(failures, func(a, b event.Failure) bool { return a.Index == b.Index })
}

// The verdicts and reasons of the kinds of failure that one mutation decides; hbase.Refused is decided by its neighbours.
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
