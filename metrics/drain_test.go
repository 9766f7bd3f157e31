package metrics

import (
	"math"
	"testing"
	"time"

	"brine/ingest"
)

func at(partition int, watermark, end int64) ingest.PartitionStatus {
	return ingest.PartitionStatus{Partition: partition, Watermark: watermark, End: end}
}

func TestDrainIsEstimatedFromRates(t *testing.T) {
	now := time.Unix(1000, 0)
	var r rates
	look := func(after time.Duration, parts ...ingest.PartitionStatus) float64 {
		now = now.Add(after)
		seconds, known := r.drain(now, parts)
		if !known {
			return -1
		}
		return seconds
	}
	for i, c := range []struct {
		got, want float64
	}{
		{look(0, at(0, 0, 10_000)), -1},                                         // no rate is known yet
		{look(10*time.Second, at(0, 1000, 10_000)), 90},                         // 100 per second, and 9,000 are left
		{look(100*time.Millisecond, at(0, 1500, 10_000)), 85},                   // too short for a rate
		{look(9900*time.Millisecond, at(0, 2000, 10_000), at(1, 0, 2000)), 100}, // a new partition moves nothing yet
		{look(10*time.Second, at(1, 2000, 2000)), 0},                            // nothing is left
	} {
		if math.Abs(c.got-c.want) > .5 {
			t.Errorf("look %d: %v s, want %v", i, c.got, c.want)
		}
	}
	r = rates{}
	look(0, at(0, 0, 1000))
	if got := look(10*time.Second, at(0, 100, 2000)); !math.IsInf(got, 1) {
		t.Errorf("a lag that grows is gone in %v s", got)
	}
	for range 20 {
		look(-time.Minute, at(0, 100, 2000)) // the clock is set back repeatedly
	}
	if got := look(10*time.Second, at(0, 5000, 5000)); got != 0 {
		t.Errorf("got %v", got)
	}
}
