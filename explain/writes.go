package explain

import (
	"context"
	"errors"
	"slices"

	"brine/event"
	"brine/indexer"
	"brine/sink"
)

// writes makes what events write, with the code that writes for them in a run.
type writes struct {
	*explainer
	source *Source

	rows      *sink.Sink // nil: none are written
	made      mutations  // the mutations submitted by rows
	documents *indexer.Preview
	through   event.Writer // nil: decoded events are complete
	completed []event.Event
}

func (w *writes) open() (err error) {
	s := w.source
	if s.Rows != nil {
		alone := *s.Rows
		alone.Hooks = sink.Hooks{Expired: w.made.expire}
		if w.rows, err = sink.New(&w.made, alone); err != nil {
			return err
		}
	}
	if s.Documents != nil {
		if w.documents, err = indexer.NewPreview(*s.Documents); err != nil {
			return err
		}
	}
	if s.Through != nil {
		w.through, err = s.Through((*completes)(w))
	}
	return err
}

// completes is the Writer behind the one that completes events.
type completes writes

// Submit implements event.Writer.
func (c *completes) Submit(_ context.Context, batch *event.Batch) event.Flight {
	c.completed = slices.Clone(batch.Events)
	return event.Done(nil)
}

// Release implements event.Writer. It does nothing, because nothing is held back.
func (c *completes) Release() {}

// Hurry implements event.Writer. It does nothing, because nothing waits.
func (c *completes) Hurry() {}

// event returns one event, and what it writes.
func (w *writes) event(ctx context.Context, ev *event.Event) (*Event, error) {
	if ev.LeftOut == "" && w.through != nil {
		w.completed = nil
		failures, err := event.Settle(ctx, w.through.Submit(ctx, &event.Batch{Events: []event.Event{*ev}}))
		if err != nil {
			return nil, err
		}
		if len(failures) > 0 {
			out := w.source.describe(ev)
			return out, out.lacks(w.source, failures[0])
		}
		ev = &w.completed[0]
	}
	out := w.source.describe(ev)
	if ev.LeftOut != "" {
		return out, nil
	}
	out.Conditions = w.conditions(ev)
	if w.rows != nil {
		if err := w.writeRows(ctx, ev, out); err != nil {
			return nil, err
		}
	}
	if w.documents != nil {
		if err := w.writeDocuments(ctx, ev, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// lacks records the reason that the event was not completed.
func (e *Event) lacks(s *Source, f event.Failure) error {
	switch {
	case f.Verdict == event.Reject:
		e.Rejected = append(e.Rejected, *s.rejected("", f.Reason, f.Err))
	case f.Reason == event.Awaited:
		e.Awaits = s.rejected("", f.Reason, f.Err)
	case f.Err != nil:
		return f.Err
	default:
		return errors.New(string(f.Reason))
	}
	return nil
}

// conditions returns the results of the when of each row and document.
func (w *writes) conditions(ev *event.Event) (out []Condition) {
	ask := func(setting, half, of, otherwise string) {
		if setting == "" {
			return
		}
		c := Condition{Place: Place{Setting: setting}, Half: half, Of: of}
		if at := w.source.where(setting); at != nil {
			c.Place = *at
		}
		holds, fault := ev.Holds(slices.IndexFunc(w.source.Schema.Fields, func(f event.Field) bool { return f.Name == setting }))
		if c.Holds = holds; fault != nil {
			c.Fault = fault.Field + ": " + fault.Detail
		} else if !holds {
			c.Otherwise = otherwise
		}
		out = append(out, c)
	}
	if s := w.source.Rows; s != nil {
		for i := range s.Rows {
			r := &s.Rows[i]
			otherwise := r.Otherwise
			if otherwise == "" {
				otherwise = sink.Skip
			}
			ask(r.When, Rows, r.Table.Name, string(otherwise))
		}
	}
	if s := w.source.Documents; s != nil {
		for i := range s.Documents {
			d := &s.Documents[i]
			otherwise := string(sink.Skip)
			if d.Hides {
				otherwise = string(sink.Delete)
			}
			ask(d.When, Documents, d.Index, otherwise)
		}
	}
	return out
}
