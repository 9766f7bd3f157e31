package ingest

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"brine/event"
)

// TestReplayOfKeysWritesNothingElse checks that records with other keys are neither written nor become dead letters.
func TestReplayOfKeysWritesNothingElse(t *testing.T) {
	b := newBroker(t, 2)
	b.produce(20, 0, 1)
	b.poison(0)
	s := newStore()
	s.decide = func(call int, batch []place) ([]event.Failure, error) {
		if call < 2 { // one of them, at first
			return []event.Failure{{Index: len(batch) - 1, Verdict: event.Retry, Reason: event.Unavailable}}, nil
		}
		return nil, nil
	}
	o := b.replay(s, "keys", Earliest, Latest)
	o.Keys = [][]byte{[]byte("k3"), []byte("k19")}
	var dead atomic.Int64
	o.Hooks.DeadLettered = func(DeadLetteredInfo) { dead.Add(1) }
	b.runReplay(t, o)
	s.wantOnce(t, 4)
	if got := s.offsets(1); !slices.Equal(got, []int64{3, 19}) || dead.Load() != 0 {
		t.Errorf("offsets %v of partition 1 and %d dead letters, expected those of k3 and k19", got, dead.Load())
	}
	o.Keys = [][]byte{[]byte("poison")}
	r, err := NewReplay(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Plan(t.Context()); !errors.Is(err, ErrOtherReplay) {
		t.Errorf("error %v for the same name with another key", err)
	}
	o.Name, o.Into = "poison", "elsewhere"
	b.runReplay(t, o)
	if dead.Load() != 1 {
		t.Errorf("%d dead letters of the poisoned key", dead.Load())
	}
	o.Into = ""
	if r, err = NewReplay(o); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Plan(t.Context()); !errors.Is(err, ErrOtherReplay) {
		t.Errorf("error %v for the same name into other tables", err)
	}
}
