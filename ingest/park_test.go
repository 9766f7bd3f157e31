package ingest

import (
	"context"
	"slices"
	"testing"

	"brine/event"
	"brine/ingest/deadletter"
)

// failingStore is a store that fails in part until it is cured: its flights stall.
type failingStore struct {
	*store
	fails func(place) bool
	cured chan struct{}
}

func (s *failingStore) Submit(ctx context.Context, b *event.Batch) event.Flight {
	return &failingFlight{storeFlight: s.store.Submit(ctx, b).(*storeFlight), of: s}
}

type failingFlight struct {
	*storeFlight
	of *failingStore
}

func (f *failingFlight) pending() (indexes []int) {
	for i, p := range f.places {
		if f.of.fails(p) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

func (f *failingFlight) Wait(ctx context.Context, until event.Until) (event.Outcome, error) {
	if pending := f.pending(); len(pending) > 0 {
		if until == event.Stalled {
			return event.Outcome{Pending: pending}, nil
		}
		select {
		case <-f.of.cured:
		case <-ctx.Done():
			return event.Outcome{}, ctx.Err()
		}
	}
	return f.storeFlight.Wait(ctx, until)
}

// While a part of the store fails, events for the rest pass through a window far smaller than what waits; what waits holds memory only for
// itself. Its outcome is then matched with the right records: they are retried, or buried whole.
func TestWhatWaitsForAFailingRegionHoldsUpNothingElse(t *testing.T) {
	b := newBroker(t, 1)
	for range 50 {
		b.produce(49, 0)
		b.poison(0)
		b.produce(50, 0)
	}
	const rejected, retried = 1007, 2107
	failed := false
	s := &failingStore{store: newStore(), fails: func(p place) bool { return p.offset%100 == 7 }, cured: make(chan struct{})}
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
	eventually(t, "what is durable has given its memory back", func() bool { return o.Budget.holds.Usage().Used < 51*(parkedCost+300) })
	if got := b.committedOffset(0); got > 7 {
		t.Errorf("committed %d while offset 7 waits", got)
	}
	eventually(t, "it says what it waits for", func() bool {
		p := l.Status().Partitions[0]
		return p.State == Retrying && p.Reason == event.Unavailable
	})
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

// scarceStore makes the budget scarce at chosen moments: stall and wait are called with the number of each submit.
type scarceStore struct {
	*store
	budget *Budget
	hog    int64
	stall  func(call int, f *scarceFlight) []int           // the pending events
	wait   func(call int, f *scarceFlight) []event.Failure // nil: as the store does
}

type scarceFlight struct {
	*storeFlight
	of *scarceStore
}

func (s *scarceStore) Submit(ctx context.Context, b *event.Batch) event.Flight {
	return &scarceFlight{s.store.Submit(ctx, b).(*storeFlight), s}
}

func (f *scarceFlight) Wait(ctx context.Context, until event.Until) (event.Outcome, error) {
	if until == event.Stalled {
		if pending := f.of.stall(f.call, f); len(pending) > 0 {
			return event.Outcome{Pending: pending}, nil
		}
	}
	if failures := f.of.wait(f.call, f); failures != nil {
		return event.Outcome{Failures: failures}, nil
	}
	return f.storeFlight.Wait(ctx, until)
}

// spend takes all of the budget except that many bytes.
func (s *scarceStore) spend(but int64) {
	for s.budget.holds.TryAcquire(1) {
		s.hog++
	}
	s.giveBack(but)
}

func (s *scarceStore) giveBack(n int64) {
	s.budget.holds.Release(n)
	s.hog -= n
}

// retry writes all events except some, which the store may take later.
func (f *scarceFlight) retry(indexes ...int) (failures []event.Failure) {
	for _, i := range indexes {
		failures = append(failures, event.Failure{Index: i, Verdict: event.Retry, Reason: event.Unavailable})
	}
	for i, p := range f.places {
		if !slices.Contains(indexes, i) {
			f.store.written[p]++
		}
	}
	return failures
}

// A flight that stalled without room to be parked leaves nothing in its place for the next one.
func TestStalledFlightLeavesNothingToTheNextInItsPlace(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(200, 0)
	s := &scarceStore{store: newStore(), budget: NewBudget(8 << 20)}
	s.stall = func(call int, _ *scarceFlight) []int {
		if call != 0 {
			return nil
		}
		s.spend(1000) // less than a parked flight takes, more than a record
		return []int{7}
	}
	s.wait = func(call int, f *scarceFlight) []event.Failure {
		switch call {
		case 0:
			s.giveBack(s.hog)
		case 1:
			return f.retry(50)
		}
		return nil
	}
	b.wantOnceWith(t, s, 200)
}

// A flight that was retried without room to be parked is not taken for a fresh one when its retry waits for a failing region.
func TestRetriedFlightKeepsItsRecordsWhenItsRetryStalls(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(100, 0)
	s := &scarceStore{store: newStore(), budget: NewBudget(8 << 20)}
	s.stall = func(call int, f *scarceFlight) (left []int) {
		if call == 1 {
			s.giveBack(s.hog)
			for i := range f.places {
				left = append(left, i)
			}
		}
		return left
	}
	s.wait = func(call int, f *scarceFlight) []event.Failure {
		switch call {
		case 0:
			s.spend(0)
			return f.retry(3, 50)
		case 1:
			s.giveBack(s.hog) // unless it may stall
			return f.retry(0, 1)
		}
		return nil
	}
	b.wantOnceWith(t, s, 100)
}

// wantOnceWith writes all records through the store, one flight at a time, and checks that each is written once.
func (b *fakeKafka) wantOnceWith(t *testing.T, s *scarceStore, records int64) {
	o := b.options(s)
	o.MaxBatchRecords, o.Window, o.Budget = 100, 1, s.budget
	l := start(t, o)
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == records })
	l.stop()
	s.wantOnce(t, int(records))
	if left := o.Budget.InUse(); left != 0 {
		t.Errorf("%d bytes in use at the end", left)
	}
}

// A replay of some keys writes only their events: what waits is matched with their records, not with others between them.
func TestWhatWaitsOfAReplayOfKeysAreTheirRecords(t *testing.T) {
	f := &flight{records: []event.Record{
		{Offset: 0, Key: []byte("a")}, {Offset: 1, Key: []byte("b")}, {Offset: 2, Key: []byte("a")}, {Offset: 3, Key: []byte("b")}, {Offset: 4, Key: []byte("b")},
	}}
	f.letters = []deadletter.Letter{{Record: &f.records[3]}}
	for _, c := range []struct {
		keys   [][]byte
		events []int
		want   []int64
	}{
		{nil, []int{1, 3}, []int64{1, 4}},
		{[][]byte{[]byte("a")}, []int{1}, []int64{2}},
		{[][]byte{[]byte("b")}, []int{0, 1}, []int64{1, 4}},
	} {
		s := &stream{partition: &partition{runner: &runner{keys: c.keys}}}
		var got []int64
		for _, rec := range s.recordsOfSome(f, c.events) {
			got = append(got, rec.Offset)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("keys %s: events %v are of the records %v, want %v", c.keys, c.events, got, c.want)
		}
	}
}
