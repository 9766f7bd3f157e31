package service

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"brine/ingest"
	"brine/schema"
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
	k.set("scans", keptFor{asked: now, time: 10 * time.Hour})
	k.set("forever", keptFor{asked: now})
	k.set("sized", keptFor{asked: now, time: 10 * time.Hour, young: true})
	for topic, want := range map[string]bool{"scans": false, "forever": false, "other": false, "sized": true} {
		if got := k.young([]ingest.PartitionStatus{waits(topic, time.Hour)}, now); got != want {
			t.Errorf("%s may delete young records: %v", topic, got)
		}
	}
	if k.young([]ingest.PartitionStatus{{Topic: "sized", Watermark: 10, End: 10}}, now) {
		t.Error("a topic may delete young records of which none is left")
	}
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

// A topic that deletes by size, and one of which brine may not ask, may delete young records.
func TestRetentionThatIsNotByAgeIsAsked(t *testing.T) {
	s := &Service{log: slog.New(slog.DiscardHandler), topics: settings{of: map[string]map[string]string{
		"aged":   {"cleanup.policy": "delete", "retention.ms": "3600000", "retention.bytes": "-1"},
		"sized":  {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "1073741824"},
		"both":   {"cleanup.policy": "compact,delete", "retention.ms": "3600000", "retention.bytes": "0"},
		"mapped": {"cleanup.policy": "compact", "retention.ms": "3600000", "retention.bytes": "5"},
	}}}
	for topic, want := range map[string]keptFor{
		"aged": {time: time.Hour}, "sized": {young: true}, "both": {time: time.Hour, young: true}, "mapped": {}, "denied": {young: true},
	} {
		s.askRetention(t.Context(), topic)
		if got, _ := s.kept.get(topic); got.time != want.time || got.young != want.young {
			t.Errorf("%s: %+v, expected %+v", topic, got, want)
		}
	}
}

// settings are those of topics. Those of others may not be asked.
type settings struct {
	schema.Topics
	of map[string]map[string]string
}

func (s settings) Settings(_ context.Context, topic string, _ ...string) (map[string]string, error) {
	if of, ok := s.of[topic]; ok {
		return of, nil
	}
	return nil, errors.New("not authorized")
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
