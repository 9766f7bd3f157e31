package service

import (
	"slices"
	"testing"

	"brine/ingest"
)

// TestUntilEndWaitsForPartitionsOfOthers: a member that was killed in the middle of a rebalance still holds partitions; a run until the end that
// has settled its own is not at the end.
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
