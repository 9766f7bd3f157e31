package control

import (
	"slices"
	"testing"
	"time"
)

// Marks stand beside what is asked: neither takes the other's place, nor one mark another's.
func TestMarksAskForNothing(t *testing.T) { onBoth(t, testMarksAskForNothing) }

func testMarksAskForNothing(t *testing.T, topic *Topic) {
	if marks, err := topic.Marks(t.Context()); len(marks) > 0 || err != nil {
		t.Errorf("without a topic: %v, %v", marks, err)
	}
	at := time.UnixMilli(1_700_000_000_000).UTC()
	paused := Entry{Paused: true, At: at}
	if err := topic.Put(t.Context(), "a", paused); err != nil {
		t.Fatal(err)
	}
	first := Mark{Group: "a", Topic: "t", Partition: 1, Offset: 7, Settings: []string{"pipelines.p.when: - → n > 1"}, Before: "x", After: "y", By: "me", At: at}
	second, other := first, first
	second.Offset, other.Partition = 9, 0
	for _, marks := range [][]Mark{{first, other}, {second}, {first}} {
		if err := topic.Mark(t.Context(), marks); err != nil {
			t.Fatal(err)
		}
	}
	topic.want(t, "beside marks", map[string]Entry{"a": paused})
	marks, err := topic.Marks(t.Context())
	same := func(a, b Mark) bool { return a.compare(b) == 0 && slices.Equal(a.Settings, b.Settings) && a.By == b.By }
	if err != nil || !slices.EqualFunc(marks, []Mark{other, first, second}, same) {
		t.Errorf("%+v, %v", marks, err)
	}
}
