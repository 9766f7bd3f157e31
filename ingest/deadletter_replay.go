package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/event"
)

// Outcome is what became of letters that were replayed.
type Outcome struct {
	Written  int                  // durable in the store, and marked
	Rejected map[event.Reason]int // that can still not be written
	Last     *DeadLetter          // one of those, with its reason of now
}

// Replay writes the records of letters again on the path of the loop: decoded again, submitted to o.Writer, retried for as long as ctx
// lasts. The version of each write is the event's own, so nothing newer is overwritten. A letter is marked once its record is durable in the
// store; one that is rejected stays open, and is written again if the reason is another than it says. A halt ends it with an error; what is
// durable by then is marked.
//
// All letters are those of one group, whose options o are. They must be copies.
func (l *DeadLetterLog) Replay(ctx context.Context, o Options, letters []KeptLetter) (Outcome, error) {
	o.EnsureDefaults()
	r := letterReplay{o: &o, decoder: event.NewDecoder(o.Schema)}
	for i := range letters {
		if err := r.decoder.Decode(letters[i].Record, &r.batch); err != nil {
			r.reject(&letters[i], event.Undecodable, err)
			continue
		}
		r.out = append(r.out, &letters[i])
	}
	halt := r.write(ctx)
	outcome := Outcome{Written: len(r.written), Rejected: map[event.Reason]int{}}
	if err := l.mark(context.WithoutCancel(ctx), r.written); err != nil {
		return outcome, fmt.Errorf("%d records are written, and their letters not marked: %w; replaying them again does no harm", len(r.written), err)
	}
	for i := range r.rejected {
		outcome.Rejected[r.rejected[i].Reason]++
		outcome.Last = &r.rejected[i]
	}
	if len(r.changed) > 0 {
		if err := l.letters.Write(context.WithoutCancel(ctx), r.changed); err != nil {
			return outcome, err
		}
	}
	return outcome, halt
}

// letterReplay is some letters on their way.
type letterReplay struct {
	o       *Options
	decoder *event.Decoder
	batch   event.Batch
	out     []*KeptLetter // of the batch's events

	written  []*KeptLetter
	rejected []DeadLetter // with the reason of now
	changed  []DeadLetter // those of them whose reason was another
}

// write submits the batch until each of its events is durable or rejected.
func (r *letterReplay) write(ctx context.Context) error {
	pauses := &pauses{base: r.o.RetryMin, limit: r.o.RetryMax}
	for len(r.batch.Events) > 0 {
		flight := r.o.Writer.Submit(ctx, &r.batch)
		if h, ok := r.o.Writer.(Holder); ok {
			h.Release()
		}
		failures, err := flight.Wait(ctx)
		if err != nil {
			return err
		}
		retry, halt := r.triage(failures)
		if halt != nil || len(retry) == 0 {
			return halt
		}
		r.o.Logger.Warn("dead letters wait", "topic", r.o.Topic, "group", r.o.Group, "letters", len(retry), "reason", retry[0].Reason, "error", retry[0].Err)
		if pauses.wait(ctx) != nil {
			return fmt.Errorf("%w; %d records wait, the last time because of %s: %w", ctx.Err(), len(retry), retry[0].Reason, retry[0].Err)
		}
	}
	return nil
}

// triage sorts out what was written and what never will be, and leaves the rest in the batch.
func (r *letterReplay) triage(failures []event.Failure) (retry []event.Failure, halt error) {
	next := 0
	done := func(to int) {
		r.written = append(r.written, r.out[next:to]...)
		next = to + 1
	}
	for _, f := range failures {
		done(f.Index)
		switch f.Verdict {
		case event.Reject:
			r.reject(r.out[f.Index], f.Reason, f.Err)
		case event.Halt:
			halt = &haltError{f.Reason, f.Err}
		default:
			retry = append(retry, f)
		}
	}
	done(len(r.out))
	r.batch.Events = keep(r.batch.Events, retry)
	for i, f := range retry {
		r.out[i] = r.out[f.Index]
	}
	r.out = r.out[:len(retry)]
	return retry, halt
}

func (r *letterReplay) reject(letter *KeptLetter, reason event.Reason, err error) {
	now := newLetter(letter.Record, reason, err, r.o.Group)
	r.rejected = append(r.rejected, now)
	if now.Reason != letter.Reason || now.Field != letter.Field {
		r.changed = append(r.changed, now)
	}
}

// newLetter words why a record cannot be written.
func newLetter(rec *event.Record, reason event.Reason, err error, group string) DeadLetter {
	e := &event.Error{Reason: reason}
	if !errors.As(err, &e) && err != nil {
		e.Detail = err.Error()
	}
	e = e.Short()
	return DeadLetter{Record: rec, Reason: e.Reason, Field: e.Field, Detail: e.Detail, Group: group, Time: time.Now()}
}
