package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// impatience is why a replay was given up: nothing was settled for that long while something waited for an answer.
type impatience struct {
	after  time.Duration
	last   string // what it waited for; empty if not known
	halted bool   // a partition waits for a person
}

func (i *impatience) Error() string {
	text := fmt.Sprintf("nothing was settled for %v", i.after)
	if i.last != "" {
		text += "; last: " + i.last
	}
	return text
}

// Unwrap makes it a timeout error, unless waiting longer would not help.
func (i *impatience) Unwrap() error {
	if i.halted {
		return nil
	}
	return context.DeadlineExceeded
}

// gaveUp reports whether impatience stopped an assignment. What is pending has then been waited for long enough.
func gaveUp(stop context.Context) bool {
	_, is := errors.AsType[*impatience](context.Cause(stop))
	return is
}

// patiently returns a ctx that ends when the replay's patience does. Time counts only while a partition waits for something, and starts
// over whenever something is settled.
func (r *Replay) patiently(ctx context.Context, a *assignment) (patient context.Context, stop func()) {
	if r.asked.Patience <= 0 {
		return ctx, func() {}
	}
	patient, cancel := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(max(r.asked.Patience/16, time.Millisecond))
		defer tick.Stop()
		left, since := int64(-1), time.Now()
		for {
			select {
			case <-patient.Done():
				return
			case <-tick.C:
			}
			if now := r.Progress().Left(); now != left || !a.waits() {
				left, since = now, time.Now()
			} else if time.Since(since) >= r.asked.Patience {
				last, halted := r.waitsFor(a)
				cancel(&impatience{r.asked.Patience, last, halted})
			}
		}
	}()
	return patient, func() { cancel(nil) }
}

// waits reports whether a partition has flights that are not settled, or cannot go on.
func (a *assignment) waits() bool {
	for _, p := range a.parts() {
		if _, out := p.mark.oldest(); out || p.progress.snapshot().State != Running {
			return true
		}
	}
	return false
}

// waitsFor returns what keeps an assignment waiting: the detail of a partition or, while a first try is pending, of its store. halted
// reports whether the partition is halted.
func (r *Replay) waitsFor(a *assignment) (what string, halted bool) {
	for _, p := range a.parts() {
		if s := p.progress.snapshot(); s.Detail != "" && s.Detail != errFailing.Error() {
			return fmt.Sprintf("partition %d, %s: %s", p.id, s.Reason, s.Detail), s.State == Halted
		}
	}
	if r.asked.Cause != nil {
		return r.asked.Cause(), false
	}
	return "", false
}
