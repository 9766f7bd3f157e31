package ingest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"brine/event"
)

// A replay whose store never responds is given up, with a timeout error that includes the store's error.
func TestAReplayIsGivenUpWithWhatItWaitsFor(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0, 1)
		for _, c := range []struct {
			name   string
			decide func(call int, b []place) ([]event.Failure, error)
			gate   <-chan struct{}
			want   string
		}{
			{"no answer", nil, make(chan struct{}), "last: the store's"},
			{"a halt", func(int, []place) ([]event.Failure, error) {
				return []event.Failure{{Index: 0, Verdict: event.Halt, Reason: event.Denied, Err: errors.New("no grant")}}, nil
			}, nil, "denied: no grant"},
			{"retries", func(_ int, b []place) ([]event.Failure, error) {
				return []event.Failure{{Index: 0, Verdict: event.Retry, Reason: event.Unavailable, Err: errors.New("connection refused")}}, nil
			}, nil, "unavailable: connection refused"},
		} {
			s := newStore()
			s.decide = c.decide
			s.gate = func(int) <-chan struct{} { return c.gate }
			o := b.replay(s, "patience", Earliest, Latest)
			o.Patience, o.Cause, o.StopTimeout, o.Again = 500*time.Millisecond, func() string { return "the store's" }, time.Hour, true
			r, err := NewReplay(o)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := r.Plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			err = r.Run(t.Context(), plan)
			if errors.Is(err, context.DeadlineExceeded) == (c.name == "a halt") || !strings.Contains(err.Error(), "nothing was settled for 500ms") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// A replay that waits only for its own limit is not given up.
func TestASlowReplayIsNotGivenUp(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(30, 0)
		s := newStore()
		o := b.replay(s, "slow", Earliest, Latest)
		o.MaxBatchRecords, o.RecordsPerSecond, o.Patience = 10, 5, time.Second // a batch every 2 s
		if plan := b.runReplay(t, o); plan.Left() != 30 {
			t.Errorf("planned %d", plan.Left())
		}
		s.wantOnce(t, 30)
	})
}
