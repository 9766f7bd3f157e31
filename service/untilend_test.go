package service

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"brine/event"
	"brine/ingest"
	"brine/internal/fault"
)

// TestUntilEndWaitsForPartitionsOfOthers checks that a run until the end that has settled its own partitions still waits while a member
// that was killed during a rebalance holds others.
func TestUntilEndWaitsForPartitionsOfOthers(t *testing.T) {
	own := func(watermarks ...int64) (ours []ingest.PartitionStatus) {
		for p, w := range watermarks {
			ours = append(ours, ingest.PartitionStatus{Partition: p, Watermark: w})
		}
		return ours
	}
	for _, c := range []struct {
		name    string
		ends    []int64
		ours    []ingest.PartitionStatus
		others  []int
		settled bool
	}{
		{"all ours and settled", []int64{5, 7}, own(5, 9), nil, true},
		{"one not settled", []int64{5, 7}, own(5, 6), nil, false},
		{"one of another", []int64{5, 7, 3}, own(5, 7), []int{2}, true},
		{"an empty one of another", []int64{5, 7, 0}, own(5, 7), nil, true},
		{"none ours", []int64{5, 7}, nil, []int{0, 1}, true},
		{"added since", []int64{5}, own(5, 0), nil, true},
	} {
		others, settled := elsewhere(c.ends, c.ours)
		if !slices.Equal(others, c.others) || settled != c.settled {
			t.Errorf("%s: others %v, settled %v; wanted %v, %v", c.name, others, settled, c.others, c.settled)
		}
	}
}

// nothingWrites is a writer that is never used.
type nothingWrites struct{ event.Writer }

func unusedLoop(t *testing.T) *ingest.Loop {
	t.Helper()
	loop, err := ingest.New(ingest.Options{Kafka: ingest.Kafka{Brokers: []string{"x:1"}}, Topic: "scans", Group: "g", Writer: nothingWrites{},
		Schema: event.Schema{Fields: []event.Field{{Name: "n", Type: event.Int}}, Version: -1}})
	if err != nil {
		t.Fatal(err)
	}
	return loop
}

// TestUntilEndWaitsForHalvesThatHaveNotJoined checks that a half that replaces another in a reload is not at the end before it is a member
// of its group, because it reads nothing until then.
func TestUntilEndWaitsForHalvesThatHaveNotJoined(t *testing.T) {
	h := &Half{name: "scans.rows", loop: unusedLoop(t)}
	if !h.unsettled(t.Context(), nil, map[string][]int64{"scans": {5}}) {
		t.Error("a half that has not joined its group counts as settled")
	}
}

// slowBroker answers the question for a topic's ends with the errors first.
type slowBroker struct {
	Offsets
	errs  []error
	asked int
}

func (b *slowBroker) Ends(context.Context, string) ([]int64, error) {
	if b.asked++; b.asked <= len(b.errs) {
		return nil, b.errs[b.asked-1]
	}
	return []int64{5}, nil
}

// TestUntilEndOutlastsABrokerThatDoesNotAnswer: one question that a busy broker did not answer in time ended a run that had written nearly
// all of its records.
func TestUntilEndOutlastsABrokerThatDoesNotAnswer(t *testing.T) {
	silent := fault.New(fault.Unreachable, errors.New("no answer in time"), "")
	missing := fault.New(fault.Missing, errors.New("no such topic"), "")
	synctest.Test(t, func(t *testing.T) {
		b := &slowBroker{errs: []error{silent, silent}}
		if ends, err := endsOf(t.Context(), b, "scans"); err != nil || !slices.Equal(ends, []int64{5}) || b.asked != 3 {
			t.Errorf("ends %v after %d questions, %v", ends, b.asked, err)
		}
		b = &slowBroker{errs: []error{silent, missing}}
		if _, err := endsOf(t.Context(), b, "scans"); !errors.Is(err, missing) {
			t.Errorf("a topic that is missing: %v", err)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if _, err := endsOf(stopped, &slowBroker{errs: []error{silent}}, "scans"); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
	})
}
