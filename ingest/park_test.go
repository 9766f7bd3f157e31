package ingest

import (
	"context"
	"testing"

	"brine/event"
)

// sickStore is a store of which a part fails until it is cured: its flights are eased.
type sickStore struct {
	*store
	sick  func(place) bool
	cured chan struct{}
}

func (s *sickStore) Submit(ctx context.Context, b *event.Batch) event.Flight {
	return &sickFlight{storeFlight: s.store.Submit(ctx, b).(*storeFlight), of: s}
}

type sickFlight struct {
	*storeFlight
	of *sickStore
}

func (f *sickFlight) Ease(context.Context) (left []int, err error) {
	for i, p := range f.places {
		if f.of.sick(p) {
			left = append(left, i)
		}
	}
	return left, nil
}

func (f *sickFlight) Wait(ctx context.Context) ([]event.Failure, error) {
	left, _ := f.Ease(ctx)
	if len(left) > 0 {
		select {
		case <-f.of.cured:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return f.storeFlight.Wait(ctx)
}

// While a part of the store fails, events for the rest of it pass through a window far smaller than what waits; what waits holds
// memory for itself alone. What becomes of it then is matched with the right records: they are retried, or buried whole.
func TestWhatWaitsForASickRegionHoldsUpNothingElse(t *testing.T) {
	b := newBroker(t, 1)
	for range 50 {
		b.produce(49, 0)
		b.poison(0)
		b.produce(50, 0)
	}
	const rejected, retried = 1007, 2107
	failed := false
	s := &sickStore{store: newStore(), sick: func(p place) bool { return p.offset%100 == 7 }, cured: make(chan struct{})}
	s.decide = func(_ int, batch []place) (failures []event.Failure, err error) {
		for i, p := range batch {
			switch {
			case p.offset == rejected:
				failures = append(failures, event.Failure{Index: i, Verdict: event.Reject, Reason: event.Refused})
			case p.offset == retried && !failed:
				failed = true
				failures = append(failures, event.Failure{Index: i, Verdict: event.Retry, Reason: event.Unavailable})
			}
		}
		return failures, nil
	}
	dead := &letters{}
	o := b.options(s)
	o.MaxBatchRecords, o.Window, o.Budget, o.DeadLetters = 100, 2, NewBudget(8<<20), dead
	l := start(t, o)
	eventually(t, "all is submitted", func() bool { return s.submits() >= 50 })
	eventually(t, "what is durable has given its memory back", func() bool { return o.Budget.holds.used.Load() < 51*(parkedCost+300) })
	if got := b.committedOffset(0); got > 7 {
		t.Errorf("committed %d while offset 7 waits", got)
	}
	if p := l.Status().Partitions[0]; p.State != Retrying || p.Reason != event.Unavailable {
		t.Errorf("while a part of the store fails the partition is %+v", p)
	}
	close(s.cured)
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == 5000 })
	l.stop()
	for offset := range int64(5000) {
		p := place{0, offset}
		want := 1
		if offset == rejected || offset%100 == 49 {
			want = 0
			if !dead.has(p) {
				t.Errorf("offset %d is no dead letter", offset)
			}
		}
		if got := s.written[p]; got != want {
			t.Errorf("offset %d was written %d times, want %d", offset, got, want)
		}
	}
	if got := string(dead.got[place{0, rejected}].Record.Key); got == "" || !failed {
		t.Errorf("the buried record has lost its key, or %d was not retried", retried)
	}
	if left := o.Budget.InUse(); left != 0 {
		t.Errorf("%d bytes in use at the end", left)
	}
}
