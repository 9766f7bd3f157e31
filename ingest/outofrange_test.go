package ingest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// commit sets the group's offset, as an operator does while no member is active.
func (b *fakeKafka) commit(partition int32, offset int64) {
	b.t.Helper()
	b.commitWith(partition, offset, nil)
}

func (b *fakeKafka) commitWith(partition int32, offset int64, metadata *string) {
	b.t.Helper()
	r := kmsg.NewOffsetCommitRequest()
	r.Group, r.Generation = group, -1
	r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, TopicID: b.TopicInfo(topic).TopicID, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: partition, Offset: offset, LeaderEpoch: -1, Metadata: metadata}}}}
	if _, err := r.RequestWith(context.Background(), b.client); err != nil {
		b.t.Fatal(err)
	}
	if got := b.committedOffset(int(partition)); got != offset {
		b.t.Fatalf("the group's offset is %d, expected %d", got, offset)
	}
}

func TestOffsetGoneStopsAndSays(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0, 1)
		s := newStore()
		l := start(t, b.options(s))
		eventually(t, "committed", func() bool { return b.committedOffset(0) == 10 && b.committedOffset(1) == 10 })
		l.stop()
		b.produce(10, 0, 1)
		if err := b.DeleteRecords(topic, 0, 15); err != nil {
			t.Fatal(err)
		}
		l = start(t, b.options(s))
		eventually(t, "it halts and says what is gone", func() bool {
			problems := l.Status().Problems(time.Now(), time.Minute)
			return len(problems) == 1 && strings.Contains(problems[0], "partition 0 is halted at offset 10") &&
				strings.Contains(problems[0], "the next offset is 10, but the log holds 15 to 20")
		})
		eventually(t, "the other goes on", func() bool { return b.committedOffset(1) == 20 })
		b.neverCommits(t, 0, 11, 30*time.Millisecond)
		l.stop()
	})
}

func TestOffsetGoneByPolicy(t *testing.T) {
	for _, c := range []struct {
		policy  Policy
		to      int64
		written int
	}{{FromEarliest, 15, 15}, {FromLatest, 20, 10}} {
		t.Run(string(c.policy), func(t *testing.T) {
			b := newBroker(t, 1)
			b.produce(10, 0)
			s := newStore()
			l := start(t, b.options(s))
			eventually(t, "committed", func() bool { return b.committedOffset(0) == 10 })
			l.stop()
			b.produce(10, 0)
			if err := b.DeleteRecords(topic, 0, 15); err != nil {
				t.Fatal(err)
			}
			o := b.options(s)
			o.OutOfRange = c.policy
			var from, to atomic.Int64
			o.Hooks.Skipped = func(i SkippedInfo) { from.Store(i.From); to.Store(i.To) }
			l = start(t, o)
			eventually(t, "all committed", func() bool { return b.committedOffset(0) == 20 })
			l.stop()
			s.wantOnce(t, c.written)
			if from.Load() != 10 || to.Load() != c.to {
				t.Errorf("skipped %d to %d, expected 10 to %d", from.Load(), to.Load(), c.to)
			}
		})
	}
}

// A topic that was deleted and recreated is shorter than what is committed: the partition stops, or begins again by policy. The commit then
// goes back as well, or a crash would lose what is between.
func TestTopicRecreated(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(10, 0)
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "committed", func() bool { return b.committedOffset(0) == 10 })
	l.stop()
	if err := b.DeleteTopic(topic); err != nil {
		t.Fatal(err)
	}
	if err := b.CreateTopic(topic, 1, nil); err != nil {
		t.Fatal(err)
	}
	b.client = b.newClient()
	b.sent[0] = 0
	b.produce(4, 0)
	b.commit(0, 10) // brokers may or may not drop the group's offsets with the topic; kfake does
	l = start(t, b.options(s))
	eventually(t, "it halts", func() bool {
		p := l.Status().Partitions
		return len(p) == 1 && p[0].State == Halted && p[0].Reason == OffsetGone
	})
	l.stop()
	o := b.options(s)
	o.OutOfRange = FromEarliest
	l = start(t, o)
	eventually(t, "all of the new topic is committed", func() bool { return b.committedOffset(0) == 4 })
	l.stop()
}
