package simulate

import (
	"context"

	"brine/event"
	"brine/sink"
)

// hold adds to the bytes that are submitted and not durable.
func (p *Process) hold(bytes int64) {
	p.mu.Lock()
	p.held += bytes
	held := p.held
	p.mu.Unlock()
	if held > budget {
		p.world.ledger.find("7: %s: %d bytes of records are out, of %d", p.Name, held, budget)
	}
}

// note remembers which records have been submitted.
func (p *Process) note(b *event.Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.did.Submitted += len(b.Events)
	for i := range b.Events {
		r := b.Events[i].Record
		p.submitted[r.Partition] = max(p.submitted[r.Partition], r.Offset+1)
	}
}

// watched is a sink of which is seen what it is given.
type watched struct {
	*sink.Sink
	process *Process
}

func (w *watched) Submit(ctx context.Context, b *event.Batch) event.Flight {
	f := &watchedFlight{process: w.process}
	for i := range b.Events {
		n := int64(b.Events[i].Record.Size())
		f.sizes, f.out = append(f.sizes, n), f.out+n
	}
	w.process.note(b)
	w.process.hold(f.out)
	ctx.Value(outstandingKey{}).(*outstanding).f = f
	f.Flight = w.Sink.Submit(ctx, b)
	return f
}

// outstanding is what was last submitted of some records. The loop may give a flight up without waiting for it, while dead letters of the same records
// cannot be written.
type outstanding struct{ f *watchedFlight }

type outstandingKey struct{}

// flight is the hook of that name.
func (p *Process) flight(ctx context.Context, _ int, _ []event.Record) (context.Context, func(bool)) {
	l := &outstanding{}
	return context.WithValue(ctx, outstandingKey{}, l), func(bool) {
		if l.f != nil {
			p.hold(-l.f.out)
		}
	}
}

type watchedFlight struct {
	event.Flight
	process *Process
	sizes   []int64
	out     int64
}

func (f *watchedFlight) Wait(ctx context.Context) ([]event.Failure, error) {
	failures, err := f.Flight.Wait(ctx)
	if len(failures) > 0 {
		f.process.world.log.Debug("not written", "process", f.process.Name, "events", len(failures), "first", failures[0].Err)
	}
	f.process.hold(-f.out)
	f.out = 0
	return failures, err
}

// Ease implements event.Easer.
func (f *watchedFlight) Ease(ctx context.Context) ([]int, error) {
	e, ok := f.Flight.(event.Easer)
	if !ok {
		return nil, nil
	}
	left, err := e.Ease(ctx)
	if err != nil { // the loop gives it up
		f.process.hold(-f.out)
		f.out = 0
		return nil, err
	}
	if len(left) == 0 {
		return nil, nil
	}
	kept := int64(0)
	for _, i := range left {
		kept += f.sizes[i]
	}
	f.process.hold(kept - f.out)
	f.out = kept
	return left, nil
}
