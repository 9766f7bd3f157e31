package simulate

import (
	"context"

	"brine/event"
	"brine/ingest"
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

// watched is a sink that records what it is given.
type watched struct {
	*sink.Sink
	process *Process
}

func (w *watched) Submit(ctx context.Context, b *event.Batch) event.Flight {
	f := &watchedFlight{process: w.process}
	for i := range b.Events {
		n := int64(0) // of a record with several events the first one has the bytes
		if i == 0 || b.Events[i].Record != b.Events[i-1].Record {
			n = int64(b.Events[i].Record.Size())
		}
		f.sizes, f.out = append(f.sizes, n), f.out+n
	}
	w.process.note(b)
	w.process.hold(f.out)
	ctx.Value(outstandingKey{}).(*outstanding).f = f
	f.Flight = w.Sink.Submit(ctx, b)
	return f
}

// outstanding is what was last submitted of some records. The loop may give a flight up without waiting for it, while dead letters of
// the same records cannot be written.
type outstanding struct{ f *watchedFlight }

type outstandingKey struct{}

// flight is the hook of that name.
func (p *Process) flight(ctx context.Context, _ ingest.FlightInfo) (context.Context, func(bool)) {
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

// Wait implements event.Flight.
func (f *watchedFlight) Wait(ctx context.Context, until event.Until) (event.Outcome, error) {
	outcome, err := f.Flight.Wait(ctx, until)
	if len(outcome.Failures) > 0 {
		f.process.world.log.Debug("not written", "process", f.process.Name, "events", len(outcome.Failures), "first", outcome.Failures[0].Err)
	}
	kept := int64(0) // after an error the loop gives the flight up
	if len(outcome.Pending) > 0 {
		for _, i := range outcome.Left() {
			kept += f.sizes[i]
		}
	}
	f.process.hold(kept - f.out)
	f.out = kept
	return outcome, err
}
