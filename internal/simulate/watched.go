package simulate

import (
	"context"

	"brine/event"
	"brine/ingest"
	"brine/sink"
)

// hold adds to the bytes that are submitted and not durable.
func (l *loop) hold(bytes int64) {
	p := l.process
	p.mu.Lock()
	l.held += bytes
	held := l.held
	p.mu.Unlock()
	if held > budget {
		p.world.ledger.find("7: %s: %d bytes of records are out, of %d", p.Name, held, budget)
	}
}

// note records which records were submitted.
func (l *loop) note(b *event.Batch) {
	p := l.process
	if p.tail == "" {
		p.world.ledger.submitted(l.client, b)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.did.Submitted += len(b.Events)
	p.pauses(b)
	for i := range b.Events {
		r := b.Events[i].Record
		p.submitted[r.Partition] = max(p.submitted[r.Partition], r.Offset+1)
	}
}

// watched is a sink that records its input.
type watched struct {
	*sink.Sink
	loop *loop
}

func (w *watched) Submit(ctx context.Context, b *event.Batch) event.Flight {
	f := &watchedFlight{loop: w.loop}
	for i := range b.Events {
		n := int64(0) // the first of several events of a record has the record's bytes
		if i == 0 || b.Events[i].Record != b.Events[i-1].Record {
			n = int64(b.Events[i].Record.Size())
		}
		f.sizes, f.out = append(f.sizes, n), f.out+n
	}
	w.loop.note(b)
	w.loop.hold(f.out)
	ctx.Value(outstandingKey{}).(*outstanding).f = f
	f.Flight = w.Sink.Submit(ctx, b)
	return f
}

// outstanding is what was last submitted of some records. The loop may abandon a flight without waiting for it, while dead letters of the
// same records cannot be written.
type outstanding struct{ f *watchedFlight }

type outstandingKey struct{}

// flight implements the hook of that name.
func (l *loop) flight(ctx context.Context, _ ingest.FlightInfo) (context.Context, func(bool)) {
	of := &outstanding{}
	return context.WithValue(ctx, outstandingKey{}, of), func(bool) {
		if of.f != nil {
			l.hold(-of.f.out)
		}
	}
}

type watchedFlight struct {
	event.Flight
	loop  *loop
	sizes []int64
	out   int64
}

// Wait implements event.Flight.
func (f *watchedFlight) Wait(ctx context.Context, until event.Until) (event.Outcome, error) {
	outcome, err := f.Flight.Wait(ctx, until)
	if len(outcome.Failures) > 0 {
		f.loop.process.world.log.Debug("not written", "process", f.loop.client, "events", len(outcome.Failures), "first", outcome.Failures[0].Err)
	}
	kept := int64(0) // after an error, the loop abandons the flight
	if len(outcome.Pending) > 0 {
		for _, i := range outcome.Left() {
			kept += f.sizes[i]
		}
	}
	f.loop.hold(kept - f.out)
	f.out = kept
	return outcome, err
}
