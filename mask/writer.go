package mask

import (
	"context"
	"slices"

	"brine/event"
)

// Writer returns a Writer whose failures do not quote what a schema masks, because they become dead letters, log lines and health states.
func Writer(w event.Writer, s event.Schema) event.Writer {
	if len(s.Masked) == 0 {
		return w
	}
	return &writer{w, &s}
}

type writer struct {
	event.Writer
	schema *event.Schema
}

func (w *writer) Submit(ctx context.Context, b *event.Batch) event.Flight {
	return &flight{w.Writer.Submit(ctx, b), w.schema}
}

type flight struct {
	event.Flight
	schema *event.Schema
}

func (f *flight) Wait(ctx context.Context, until event.Until) (event.Outcome, error) {
	out, err := f.Flight.Wait(ctx, until)
	out.Failures = slices.Clone(out.Failures) // the flight's must not be changed
	for i := range out.Failures {
		if x := &out.Failures[i]; x.Verdict == event.Reject { // the others concern servers and tables
			x.Err = f.schema.Hide(x.Err)
		}
	}
	return out, err
}
