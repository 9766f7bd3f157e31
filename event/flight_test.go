package event_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"brine/event"
)

// outcome is a flight that always has this outcome.
type outcome event.Outcome

func (o outcome) Wait(ctx context.Context, until event.Until) (event.Outcome, error) {
	if until == event.Settled {
		o.Pending = nil
	}
	return event.Outcome(o), ctx.Err()
}

func TestPartReportsByTheBatch(t *testing.T) {
	some := outcome{Failures: []event.Failure{{Index: 1}}, Pending: []int{0, 2}}
	whole := event.Part{Flight: some, At: []int{1, 2, 5}, Failed: []event.Failure{{Index: 0}, {Index: 4}}}
	for range 2 { // Wait may be called again
		o, err := whole.Wait(t.Context(), event.Stalled)
		if err != nil || !slices.Equal(o.Pending, []int{1, 5}) || !slices.Equal(o.Left(), []int{0, 1, 2, 4, 5}) {
			t.Errorf("%+v, %v", o, err)
		}
	}
	failures, err := event.Settle(t.Context(), whole)
	if err != nil || len(failures) != 3 || failures[0].Index != 0 || failures[1].Index != 2 || failures[2].Index != 4 {
		t.Errorf("%+v, %v", failures, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if o, err := whole.Wait(ended, event.Settled); !errors.Is(err, context.Canceled) || o.Left() != nil {
		t.Errorf("%+v, %v", o, err)
	}
}
