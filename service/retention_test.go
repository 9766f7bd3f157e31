package service

import (
	"testing"
	"time"

	"brine/ingest"
)

// TestLeftOfWhatTopicsKeep checks that the time left is that of the partition whose oldest record is deleted first, among topics with a
// known retention.
func TestLeftOfWhatTopicsKeep(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	waits := func(topic string, since time.Duration) ingest.PartitionStatus {
		return ingest.PartitionStatus{Topic: topic, Watermark: 5, End: 10, Since: now.Add(-since)}
	}
	var k kept
	if left, known := k.left([]ingest.PartitionStatus{waits("scans", time.Hour)}, now); known {
		t.Errorf("before anything was asked: %+v", left)
	}
	k.set("scans", keptFor{now, 10 * time.Hour})
	k.set("forever", keptFor{now, 0})
	for _, c := range []struct {
		parts []ingest.PartitionStatus
		left  time.Duration
		ratio float64
		known bool
	}{
		{nil, 0, 0, false},
		{[]ingest.PartitionStatus{{Topic: "scans", Watermark: 10, End: 10}}, 0, 0, false},
		{[]ingest.PartitionStatus{waits("forever", time.Hour), waits("other", time.Hour)}, 0, 0, false},
		{[]ingest.PartitionStatus{waits("scans", time.Hour), waits("scans", 4*time.Hour), waits("forever", 100*time.Hour)}, 6 * time.Hour, .6, true},
		{[]ingest.PartitionStatus{waits("scans", 11*time.Hour)}, 0, 0, true},
	} {
		left, known := k.left(c.parts, now)
		if known != c.known || left.Time != c.left || left.Ratio != c.ratio {
			t.Errorf("%+v: %+v, %v", c.parts, left, known)
		}
	}
}

func TestStateOfALoop(t *testing.T) {
	part := func(s ingest.State) []ingest.PartitionStatus {
		return []ingest.PartitionStatus{{State: ingest.Running}, {State: s}}
	}
	for want, s := range map[string]ingest.Status{
		"joining":  {Joined: false, Paused: true},
		"running":  {Joined: true, Partitions: part(ingest.Starting)},
		"halted":   {Joined: true, Partitions: part(ingest.Halted), Limit: 5},
		"retrying": {Joined: true, Partitions: part(ingest.Retrying)},
		"paused":   {Joined: true, Partitions: part(ingest.Waiting), Paused: true},
		"limited":  {Joined: true, Partitions: part(ingest.Draining), Limit: 5},
	} {
		if got := stateOf(&s); got != want {
			t.Errorf("%+v: %s, expected %s", s, got, want)
		}
	}
}
