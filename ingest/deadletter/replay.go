package deadletter

import (
	"context"
	"fmt"
	"time"

	"brine/event"
	"brine/internal/backoff"
)

// Target is where the dead letters of one group are written again.
type Target struct {
	Name   string // for errors, such as the pipeline's name
	Group  string
	Schema event.Schema // with its Fix, if there is one
	Let    string       // describes the Fix, for marks
	Writer event.Writer

	RetryMin, RetryMax time.Duration // pauses between attempts

	// Patience is how long retries may go on while no dead letter is settled; 0: forever.
	Patience time.Duration
	// Retried is called after each failed attempt with the number of consecutive failures. nil: no call.
	Retried func(tries int, failure event.Failure)
	// Cause returns the store's error while a first attempt is pending; empty if not known. nil: never known.
	Cause func() string
}

// Outcome is what became of replayed dead letters.
type Outcome struct {
	Written  int                  // durable in the store, and marked
	Rejected map[event.Reason]int // still rejected
	Last     *Letter              // one of the rejected, with its new reason
}

func (o *Outcome) add(more Outcome) {
	o.Written += more.Written
	for reason, n := range more.Rejected {
		o.Rejected[reason] += n
	}
	if more.Last != nil {
		o.Last = more.Last
	}
}

// Replay writes the records of dead letters again on the path of the loop: it decodes and submits them, and retries for as long as ctx and
// Patience last. The version of each write is the event's own, so nothing newer is overwritten. A dead letter is marked once its record is
// durable in the store. A rejected one stays open, and is written again as a dead letter if the reason has changed. A halt ends the replay
// with an error; what is durable by then is marked.
//
// All dead letters must belong to the target's group, and must be copies.
func (l *Log) Replay(ctx context.Context, to *Target, letters []Kept) (Outcome, error) {
	r := replay{to: to, decoder: event.NewDecoder(to.Schema)}
	for i := range letters {
		if err := r.decoder.Resolve(ctx, letters[i].Record); err != nil {
			return Outcome{Rejected: map[event.Reason]int{}}, fmt.Errorf("decoding a dead letter: %w", err)
		}
		from := len(r.batch.Events)
		if err := r.decoder.Decode(letters[i].Record, &r.batch); err != nil {
			r.reject(&letters[i], event.Undecodable, err)
			continue
		}
		one := &replayed{letter: &letters[i], events: len(r.batch.Events) - from}
		for range one.events {
			r.pending = append(r.pending, one)
		}
	}
	unsettled := r.write(ctx)
	outcome := Outcome{Written: len(r.written), Rejected: map[event.Reason]int{}}
	if err := l.mark(context.WithoutCancel(ctx), r.written, to.Let); err != nil {
		return outcome, fmt.Errorf("%d records are written, but their dead letters are not marked: %w; replaying them again is harmless",
			len(r.written), err)
	}
	for i := range r.rejected {
		outcome.Rejected[r.rejected[i].Reason]++
		outcome.Last = &r.rejected[i]
	}
	if len(r.changed) > 0 {
		if err := l.writer.Write(context.WithoutCancel(ctx), r.changed); err != nil {
			return outcome, err
		}
	}
	return outcome, unsettled
}

// replay is a group of dead letters being replayed.
type replay struct {
	to      *Target
	decoder *event.Decoder
	batch   event.Batch
	pending []*replayed // for each of the batch's events

	written  []*Kept
	rejected []Letter // with the new reason
	changed  []Letter // the rejected ones whose reason has changed
}

// replayed is one dead letter being replayed; its record may have several events.
type replayed struct {
	letter   *Kept
	events   int  // not yet settled
	rejected bool // at least one of the settled events is rejected
}

// settled notes that one of its events is settled, and reports whether the record is written.
func (l *replayed) settled() bool {
	l.events--
	return l.events == 0 && !l.rejected
}

// write submits the batch until each of its events is durable or rejected.
func (r *replay) write(ctx context.Context) error {
	pauses := backoff.Pauses{Base: r.to.RetryMin, Limit: r.to.RetryMax}
	p := newPatience(ctx, r.to)
	defer p.stop()
	for len(r.batch.Events) > 0 {
		flight := r.to.Writer.Submit(p.ctx, &r.batch)
		r.to.Writer.Release()
		failures, err := event.Settle(p.ctx, flight)
		if err != nil {
			return p.ended(len(r.pending), err)
		}
		retry, halt := r.triage(failures)
		if halt != nil || len(retry) == 0 {
			return halt
		}
		if len(retry) < len(failures) || len(retry) < p.pending {
			p.again()
			pauses.Failures = 0
		}
		p.pending, p.last = len(retry), &retry[0]
		if r.to.Retried != nil {
			r.to.Retried(pauses.Failures+1, retry[0])
		}
		if err := pauses.Wait(p.ctx); err != nil {
			return p.ended(len(retry), err)
		}
	}
	return nil
}

// patience ends a context when nothing was settled for limit.
type patience struct {
	ctx     context.Context
	stop    context.CancelFunc
	limit   time.Duration
	timer   *time.Timer
	pending int            // events not settled after the last attempt
	last    *event.Failure // of the last attempt; nil until one has ended
	cause   func() string  // of an attempt that has not ended; may be nil
}

func newPatience(ctx context.Context, to *Target) *patience {
	limit := to.Patience
	p := &patience{limit: limit, cause: to.Cause}
	ctx, cancel := context.WithCancelCause(ctx)
	p.ctx, p.stop = ctx, func() { cancel(nil) }
	if limit > 0 {
		p.timer = time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
		stop := p.stop
		p.stop = func() { p.timer.Stop(); stop() }
	}
	return p
}

// again restarts the time.
func (p *patience) again() {
	if p.timer != nil {
		p.timer.Reset(p.limit)
	}
}

// ended describes why the replay of that many dead letters ended, with the cause of the last attempt.
func (p *patience) ended(pending int, err error) error {
	if p.ctx.Err() == nil {
		return err // the writer's own
	}
	err = context.Cause(p.ctx)
	if p.last == nil {
		err = fmt.Errorf("%w; %d records are waiting for the store's first answer", err, pending)
		if p.cause == nil || p.cause() == "" {
			return err
		}
		return fmt.Errorf("%w; last: %s", err, p.cause())
	}
	return fmt.Errorf("%w; %d records are waiting, last because of %s: %w", err, pending, p.last.Reason, p.last.Err)
}

// triage separates what was written and what never will be, and leaves the rest in the batch.
func (r *replay) triage(failures []event.Failure) (retry []event.Failure, halt error) {
	next := 0
	settle := func(to int) {
		for _, l := range r.pending[next:to] {
			if l.settled() {
				r.written = append(r.written, l.letter)
			}
		}
		next = to + 1
	}
	for _, f := range failures {
		settle(f.Index)
		switch f.Verdict {
		case event.Reject:
			l := r.pending[f.Index]
			if !l.rejected {
				l.rejected = true
				r.reject(l.letter, f.Reason, f.Err)
			}
			l.settled()
		case event.Halt:
			halt = fmt.Errorf("%s: %w", f.Reason, f.Err)
		default:
			retry = append(retry, f)
		}
	}
	settle(len(r.pending))
	for i, f := range retry { // i ≤ Index because the indexes ascend
		r.batch.Events[i], r.pending[i] = r.batch.Events[f.Index], r.pending[f.Index]
	}
	r.batch.Events, r.pending = r.batch.Events[:len(retry)], r.pending[:len(retry)]
	return retry, halt
}

func (r *replay) reject(letter *Kept, reason event.Reason, err error) {
	now := New(letter.Record, reason, err, r.to.Group)
	r.rejected = append(r.rejected, now)
	if now.Reason != letter.Reason || now.Field != letter.Field {
		r.changed = append(r.changed, now)
	}
}
