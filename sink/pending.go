package sink

import (
	"context"
	"slices"
	"time"

	"brine/event"
	"brine/hbase"
)

// stall blocks until every row is settled or waits for a failing region. If rows wait, it settles those that are durable, keeps only the
// rest, and returns an outcome with pending events.
func (f *flight) stall(ctx context.Context) (event.Outcome, error) {
	var rest []part
	for i := range f.parts {
		p := &f.parts[i]
		if p.flight == nil {
			continue
		}
		batch, indexes, err := p.flight.WaitPending(ctx)
		if err != nil {
			return event.Outcome{}, err
		}
		if batch != nil {
			rest = append(rest, part{target: p.target, flight: p.flight, batch: batch, from: indexes})
		}
	}
	if len(rest) == 0 {
		return event.Outcome{}, nil
	}
	return f.keep(rest), nil
}

// keep settles what is durable and releases everything but rest, whose events are pending.
func (f *flight) keep(rest []part) (o event.Outcome) {
	now := f.sink.opts.Now()
	unjudged := rest
	for i := range f.parts {
		p := &f.parts[i]
		switch {
		case p.flight == nil:
		case len(unjudged) > 0 && unjudged[0].target == p.target:
			f.sink.divide(p, &unjudged[0], now)
			for _, of := range unjudged[0].events {
				o.Pending = append(o.Pending, int(of.event))
			}
			unjudged = unjudged[1:]
		default:
			_ = p.wait(context.Background()) // it is done
			f.settlePart(p, now)
		}
	}
	f.giveBack()
	f.parts = rest
	slices.Sort(o.Pending)
	o.Pending = slices.Compact(o.Pending)
	o.Failures = slices.DeleteFunc(event.Worst(slices.Clone(f.failures)), func(x event.Failure) bool {
		_, pending := slices.BinarySearch(o.Pending, x.Index)
		return pending
	})
	return o
}

// divide separates left, which is still pending, from the durable mutations of p, and settles those.
func (s *Sink) divide(p, left *part, now time.Time) {
	start := 0
	for _, i := range left.from {
		left.events = append(left.events, p.events[i])
		left.wrote = append(left.wrote, p.wrote[i])
		if len(p.ends) > 0 {
			size := p.ends[i]
			if i > 0 {
				size -= p.ends[i-1]
			}
			start += size
			left.ends = append(left.ends, start)
		}
		p.errs = append(p.errs, hbase.MutationError{Index: int(i)}) // not durable yet
	}
	s.reportDurable(p)
	left.before = p.durable()
	p.remember(left.before, now)
	s.refusals.Settled(now, p.batch.Len()-len(left.from))
	s.reportSpread(p)
}
