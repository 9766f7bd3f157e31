package sink

import (
	"context"
	"slices"
	"time"

	"brine/event"
	"brine/hbase"
)

// easer is a client's flight that gives its batch back while what is left of it waits for regions that fail; see
// hbase.Flight's Ease.
type easer interface {
	Ease(ctx context.Context) (left *hbase.Batch, indexes []int32, err error)
}

// Ease implements event.Easer: what is durable is settled, and of the draft only what is not is kept.
func (f *flight) Ease(ctx context.Context) (left []int, err error) {
	if f.draft == nil {
		return nil, nil
	}
	rest := make([]part, 0, len(f.parts))
	for i := range f.parts {
		p := &f.parts[i]
		if p.flight == nil {
			continue
		}
		e, ok := p.flight.(easer)
		if !ok {
			return nil, nil
		}
		batch, indexes, err := e.Ease(ctx)
		if err != nil {
			return nil, err
		}
		if batch != nil {
			rest = append(rest, part{target: p.target, flight: p.flight, batch: batch, from: indexes})
		}
	}
	if len(rest) == 0 {
		return nil, nil
	}
	return f.keep(rest), nil
}

// keep settles what is durable and lets all go but the rest. It gives the events of that.
func (f *flight) keep(rest []part) (left []int) {
	now := f.sink.opts.Now()
	unjudged := rest
	for i := range f.parts {
		p := &f.parts[i]
		switch {
		case p.flight == nil:
		case len(unjudged) > 0 && unjudged[0].target == p.target:
			f.sink.divide(p, &unjudged[0], now)
			left = append(left, unjudged[0].events...)
			unjudged = unjudged[1:]
		default:
			_ = p.wait(context.Background()) // it is done
			f.failures = append(f.failures, f.sink.judge(p, now)...)
			f.sink.tellSpread(p)
		}
	}
	for _, failure := range f.failures {
		left = append(left, failure.Index)
	}
	f.giveBack()
	f.parts = rest
	slices.Sort(left)
	return slices.Compact(left)
}

// divide parts what is left of p from what is durable, and settles that.
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
		p.errs = append(p.errs, hbase.MutationError{Index: int(i)}) // not durable for now
	}
	left.before = p.durable()
	p.remember(left.before, now)
	s.refusals.Settled(now, p.batch.Len()-len(left.from))
	s.tellSpread(p)
}

var _ event.Easer = (*flight)(nil)
