package service

import (
	"slices"
	"testing"

	"brine/event"
	"brine/ingest"
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

// TestUntilEndWaitsForHalvesThatHaveNotJoined checks that a half that replaces another in a reload is not at the end before it is a member
// of its group, because it reads nothing until then.
func TestUntilEndWaitsForHalvesThatHaveNotJoined(t *testing.T) {
	loop, err := ingest.New(ingest.Options{Kafka: ingest.Kafka{Brokers: []string{"x:1"}}, Topic: "scans", Group: "g", Writer: nothingWrites{},
		Schema: event.Schema{Fields: []event.Field{{Name: "n", Type: event.Int}}, Version: -1}})
	if err != nil {
		t.Fatal(err)
	}
	h := &Half{name: "scans.rows", loop: loop}
	if !h.unsettled(t.Context(), nil, map[string][]int64{"scans": {5}}) {
		t.Error("a half that has not joined its group counts as settled")
	}
}
