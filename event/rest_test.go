package event

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRest(t *testing.T) {
	for _, c := range []struct {
		name string
		rest Rest
		has  map[int]bool
	}{
		{"everything", 0, map[int]bool{0: true, 62: true, 63: true, 1000: true}},
		{"one write", RestOf(5), map[int]bool{4: false, 5: true, 6: false, 63: false, 1000: false}},
		{"two", RestOf(0).and(RestOf(62)), map[int]bool{0: true, 1: false, 62: true, 63: false}},
		{"one of those that count as one", RestOf(70), map[int]bool{62: false, 63: true, 64: true, 70: true, 1000: true}},
		{"one and everything", RestOf(5).and(0), map[int]bool{4: true, 5: true, 63: true}},
	} {
		for write, want := range c.has {
			if c.rest.Has(write) != want {
				t.Errorf("%s: Has(%d) is %v", c.name, write, !want)
			}
		}
	}
}

// TestWorst checks that one failure for each event is kept, with what all of them leave to be written.
func TestWorst(t *testing.T) {
	got := Worst([]Failure{
		{Index: 7, Verdict: Reject, Reason: TooLarge, Rest: RestOf(3)},
		{Index: 2, Verdict: Retry, Reason: Unavailable, Rest: RestOf(1)},
		{Index: 7, Verdict: Retry, Reason: Unavailable, Rest: RestOf(0)},
		{Index: 2, Verdict: Halt, Reason: NoTable, Rest: RestOf(2)},
		{Index: 4, Verdict: Reject, Reason: BadKey},
		{Index: 4, Verdict: Retry, Reason: Unavailable, Rest: RestOf(0)},
		{Index: 9, Verdict: Reject, Reason: BadKey},
	})
	want := []Failure{
		{Index: 2, Verdict: Halt, Reason: NoTable, Rest: RestOf(1) | RestOf(2)},
		{Index: 4, Verdict: Retry, Reason: Unavailable}, // the rejection is of everything
		{Index: 7, Verdict: Retry, Reason: Unavailable, Rest: RestOf(0) | RestOf(3)},
		{Index: 9, Verdict: Reject, Reason: BadKey},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(- wanted, + got)\n%s", diff)
	}
}
