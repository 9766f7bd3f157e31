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

	// Committed returns, by source, the offset from which its group goes on in each partition.
	Committed func(ctx context.Context) ([]map[int]int64, error)
	// Writers returns what repairs a source, by source. Nil: nothing is repaired.
	Writers func(ctx context.Context) ([]event.Writer, error)

	// What follows is called by Run between its own steps; none may be nil.

	Started  func()                             // from now on
	Work     func(work func())                  // runs a part of the work, and shows its progress
	Verified func(r *Report)                    // a round is done; nil: nothing was committed
	Repaired func(records int64, again *Report) // what the round found was written again
	Failed   func(err error)                    // a round failed; the next one covers its range too
}

// Run follows from where the groups are now until ctx ends. It returns an error if that cannot be found out.
func (f *Follower) Run(ctx context.Context) error {
	at, err := f.Committed(ctx)
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

// round verifies what was committed between at and now, and returns where now is.
func (f *Follower) round(ctx context.Context, at []map[int]int64) ([]map[int]int64, error) {
	next, err := f.Committed(ctx)
	if err != nil {
		return nil, err
	}
	o, moved := f.Options, []int{}
	o.Sources = nil
	for i, s := range f.Options.Sources {
		if maps.Equal(at[i], next[i]) {
			continue
		}
		s.From, s.To, s.Settled = ingest.Offsets(at[i]), ingest.Offsets(next[i]), nil
		o.Sources, moved = append(o.Sources, s), append(moved, i)
	}
	if len(moved) == 0 {
		f.Verified(nil)
		return next, nil
	}
	return next, f.verify(ctx, o, moved)
}

// verify verifies the sources that have moved, and repairs them if that is wanted.
func (f *Follower) verify(ctx context.Context, o Options, moved []int) error {
	check, err := New(o)
	if err != nil {
		return err
	}
	defer check.Close()
	var r *Report
	f.Work(func() { r, err = check.Run(ctx) })
	if err != nil {
		return err
	}
	f.Verified(r)
	if f.Writers == nil || r.Fixable(ByRepair) == 0 {
		return nil
	}
	all, err := f.Writers(ctx)
	if err != nil {
		return err
	}
	writers := make([]event.Writer, len(moved))
	for i, source := range moved {
		writers[i] = all[source]
	}
	records, err := check.Repair(ctx, writers)
	if err != nil {
		return fmt.Errorf("%d records were written again before: %w", records, err)
	}
	if r, err = check.Again(ctx); err != nil {
		return err
	}
	f.Repaired(records, r)
	return nil
}
