package control

import (
	"slices"
	"testing"
	"time"
)

// Marks are stored beside what is asked: neither replaces the other, nor one mark another.
func TestMarksAskForNothing(t *testing.T) { onBoth(t, testMarksAskForNothing) }

func testMarksAskForNothing(t *testing.T, topic *Topic) {
	if marks, kept, err := topic.Marks(t.Context()); len(marks) > 0 || len(kept) > 0 || err != nil {
		t.Errorf("without a topic: %v, %v, %v", marks, kept, err)
	}
	at := time.UnixMilli(1_700_000_000_000).UTC()
	paused := Entry{Paused: true, At: at}
	if err := topic.Put(t.Context(), "a", paused); err != nil {
		t.Fatal(err)
	}
	first := Mark{Group: "a", Topic: "t", Partition: 1, Offset: 7, Settings: []string{"pipelines.p.when: - → n > 1"}, Before: "x", After: "y", By: "me", At: at}
	second, other, again := first, first, first
	second.Offset, other.Partition, again.At = 9, 0, at.Add(time.Second) // at the same offset again, with nothing written between
	for _, marks := range [][]Mark{{first, other}, {second}, {again}, {first}} {
		if err := topic.Mark(t.Context(), marks); err != nil {
			t.Fatal(err)
		}
	}
	for _, written := range []string{"before", "as it was written last"} {
		if err := topic.Keep(t.Context(), []Configuration{{Name: "x", Pipeline: "p", Written: written}}); err != nil {
			t.Fatal(err)
		}
	}
	topic.want(t, "beside marks", map[string]Entry{"a": paused})
	marks, kept, err := topic.Marks(t.Context())
	same := func(a, b Mark) bool { return a.compare(b) == 0 && slices.Equal(a.Settings, b.Settings) && a.By == b.By }
	if err != nil || !slices.EqualFunc(marks, []Mark{other, first, again, second}, same) {
		t.Errorf("%+v, %v", marks, err)
	}
	if c := kept["x"]; len(kept) != 1 || c.Pipeline != "p" || c.Written != "as it was written last" {
		t.Errorf("kept %+v", kept)
	}
}
