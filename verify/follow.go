package verify

import (
	"context"
	"fmt"
	"maps"
	"time"

	"brine/event"
	"brine/ingest"
	"brine/internal/backoff"
)

// Follower verifies, round by round, what the groups of its sources have committed since the round before.
type Follower struct {
	Options Options // of every round; it sets From, To and Settled of the sources
	Every   time.Duration

	// Committed returns, by source and partition, the offset from which its group goes on, and where the partition ended when that was asked.
	Committed func(ctx context.Context) (next, ends []map[int]int64, err error)
	// Writers returns what repairs a source, by source. Nil: nothing is repaired.
	Writers func(ctx context.Context) ([]event.Writer, error)

	// What follows is called by Run between its own steps; none may be nil.

	Started  func()                             // from now on
	Work     func(work func())                  // runs a part of the work, and shows its progress
	Verified func(r *Report)                    // a round is done; nil: nothing was committed
	Repaired func(records int64, again *Report) // what the round found was written again
	Failed   func(err error)                    // a round failed; the next one covers its range too
	// Proved is called after a round that left nothing wrong: everything that came into the topics between Started and a time is verified.
	// Once a round has left something wrong it is not called any more, since no later round looks there again.
	Proved func(through time.Time)

	proof proof
}

// Run follows from where the groups are now until ctx ends. It returns an error if that cannot be found out.
func (f *Follower) Run(ctx context.Context) error {
	at, err := f.committed(ctx)
	if err != nil {
		return err
	}
	f.Started()
	for backoff.Wait(ctx, f.Every) == nil {
		if next, err := f.round(ctx, at); err == nil {
			at = next
		} else if ctx.Err() == nil {
			f.Failed(err)
		}
	}
	return nil
}

// committed is where the groups are, and notes where the topics end.
func (f *Follower) committed(ctx context.Context) ([]map[int]int64, error) {
	asked := time.Now()
	next, ends, err := f.Committed(ctx)
	if err == nil {
		f.proof.looked(asked, ends)
	}
	return next, err
}

// round verifies what was committed between at and now, and returns where now is.
func (f *Follower) round(ctx context.Context, at []map[int]int64) ([]map[int]int64, error) {
	next, err := f.committed(ctx)
	if err != nil {
		return nil, err
	}
	o, moved := f.Options, []int{}
	o.Sources = nil
	for i, s := range f.Options.Sources {
		if maps.Equal(at[i], next[i]) {
			continue
		}
		for partition := range next[i] {
			if _, known := at[i][partition]; !known { // it came since, and is verified from its beginning
				at[i][partition] = 0
			}
		}
		s.From, s.To, s.Settled = ingest.Offsets(at[i]), ingest.Offsets(next[i]), nil
		o.Sources, moved = append(o.Sources, s), append(moved, i)
	}
	left := int64(0)
	if len(moved) == 0 {
		f.Verified(nil)
	} else if left, err = f.verify(ctx, o, moved); err != nil {
		return nil, err
	}
	f.prove(next, left)
	return next, nil
}

// prove notes that a round has come to its end, and how much that is wrong it has left.
func (f *Follower) prove(next []map[int]int64, left int64) {
	f.proof.broken = f.proof.broken || left > 0
	before := f.proof.through
	if f.proof.verified(next); f.proof.through != before {
		f.Proved(f.proof.through)
	}
}

// verify verifies the sources that have moved, and repairs them if that is wanted. It returns how much that is wrong is left.
func (f *Follower) verify(ctx context.Context, o Options, moved []int) (left int64, err error) {
	check, err := New(o)
	if err != nil {
		return 0, err
	}
	defer check.Close()
	var r *Report
	f.Work(func() { r, err = check.Run(ctx) })
	if err != nil {
		return 0, err
	}
	f.Verified(r)
	if f.Writers == nil || r.Fixable(ByRepair) == 0 {
		return r.unproved(), nil
	}
	all, err := f.Writers(ctx)
	if err != nil {
		return 0, err
	}
	writers := make([]event.Writer, len(moved))
	for i, source := range moved {
		writers[i] = all[source]
	}
	records, err := check.Repair(ctx, writers)
	if err != nil {
		return 0, fmt.Errorf("%d records were written again before: %w", records, err)
	}
	if r, err = check.Again(ctx); err != nil {
		return 0, err
	}
	f.Repaired(records, r)
	return r.unproved(), nil
}
