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

// Follower verifies, round by round, what the groups of its sources have committed since the previous round.
type Follower struct {
	Options Options // for every round, which sets From, To and Settled of the sources
	Every   time.Duration

	// Committed returns, by source and partition, the next offset of its group, and the end of the partition at the time of the call.
	Committed func(ctx context.Context) (next, ends []map[int]int64, err error)
	// Writers returns the writer that repairs each source. If it is nil, nothing is repaired.
	Writers func(ctx context.Context) ([]event.Writer, error)

	// Run calls the following functions between its own steps; none may be nil.

	Started  func()                             // Run begins to follow
	Work     func(work func())                  // runs a part of the work, and shows its progress
	Verified func(r *Report)                    // a round is done; nil: nothing was committed
	Repaired func(records int64, again *Report) // the findings of the round were written again
	Failed   func(err error)                    // a round failed; the next one covers its range too
	// Proved is called after a round that left nothing wrong: everything received by the topics between Started and through is verified. After
	// a round has left something wrong, Proved is never called again, because no later round returns to that range.
	Proved func(through time.Time)

	proof proof
}

// Run follows from the groups' current positions until ctx is done. It returns an error if it cannot determine those positions.
//
// It verifies a new partition from its beginning, and also one whose group has gone back: its topic may have been recreated, and then what
// was verified is not what is there now.
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

// committed returns the groups' positions, and records the ends of the topics.
func (f *Follower) committed(ctx context.Context) ([]map[int]int64, error) {
	asked := time.Now()
	next, ends, err := f.Committed(ctx)
	if err == nil {
		f.proof.looked(asked, ends)
	}
	return next, err
}

// round verifies what was committed between at and now, and returns the current positions.
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
		for partition, now := range next[i] {
			if was, known := at[i][partition]; !known || now < was { // verified from its beginning; see Run
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

// prove records that a round has ended, and how many problems it has left.
func (f *Follower) prove(next []map[int]int64, left int64) {
	f.proof.broken = f.proof.broken || left > 0
	before := f.proof.through
	if f.proof.verified(next); f.proof.through != before {
		f.Proved(f.proof.through)
	}
}

// verify verifies the sources that have moved, and repairs them if Writers is set. It returns the number of problems left.
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
		return 0, fmt.Errorf("%d records were rewritten before this: %w", records, err)
	}
	if r, err = check.Again(ctx); err != nil {
		return 0, err
	}
	f.Repaired(records, r)
	return r.unproved(), nil
}
