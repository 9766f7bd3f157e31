package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
)

// transaction produces n records to partition 0 and ends the transaction as told.
func (b *broker) transaction(id string, n int, end kgo.TransactionEndTry) {
	b.t.Helper()
	client := b.newClient(kgo.TransactionalID(id), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := client.BeginTransaction(); err != nil {
		b.t.Fatal(err)
	}
	for range n {
		r := &kgo.Record{Topic: topic, Value: fmt.Appendf(nil, `{"n":%d}`, b.sent[0])}
		if err := client.ProduceSync(context.Background(), r).FirstErr(); err != nil {
			b.t.Fatal(err)
		}
		b.sent[0]++
	}
	if err := client.EndTransaction(context.Background(), end); err != nil {
		b.t.Fatal(err)
	}
	b.sent[0]++ // the marker
}

// commit sets the group's offset, as an operator does while no member is active.
func (b *broker) commit(partition int32, offset int64) {
	b.t.Helper()
	r := kmsg.NewOffsetCommitRequest()
	r.Group, r.Generation = group, -1
	r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, TopicID: b.TopicInfo(topic).TopicID, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: partition, Offset: offset, LeaderEpoch: -1}}}}
	if _, err := r.RequestWith(context.Background(), b.client); err != nil {
		b.t.Fatal(err)
	}
	if got := b.committedOffset(int(partition)); got != offset {
		b.t.Fatalf("the group's offset is %d, expected %d", got, offset)
	}
}

func TestAbortedTransactionIsLeftOut(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(3, 0)                      // 0–2
	b.transaction("a", 4, kgo.TryAbort)  // 3–6, marker 7
	b.transaction("b", 5, kgo.TryCommit) // 8–12, marker 13
	b.transaction("a", 2, kgo.TryAbort)  // 14–15, marker 16
	b.transaction("a", 2, kgo.TryCommit) // 17–18, marker 19: the same producer, committed
	b.produce(1, 0)                      // 20
	b.transaction("c", 1, kgo.TryAbort)  // 21, marker 22: nothing follows
	want := []int64{0, 1, 2, 8, 9, 10, 11, 12, 17, 18, 20}
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "all committed, the markers too", func() bool { return b.committedOffset(0) == 23 })
	l.stop()
	s.wantOnce(t, len(want))
	for _, o := range want {
		if s.written[place{0, o}] != 1 {
			t.Errorf("offset %d is missing", o)
		}
	}
}

func TestRestartInsideAnAbortedTransaction(t *testing.T) {
	b := newBroker(t, 1)
	b.transaction("a", 6, kgo.TryAbort) // 0–5, marker 6
	b.produce(2, 0)                     // 7–8
	b.commit(0, 3)
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == 9 })
	l.stop()
	s.wantOnce(t, 2)
}

// Records of a transaction that is still open are not read, and what follows them waits: but that is no lag.
func TestOpenTransactionIsWaitedForAndIsNoLag(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(2, 0)
	client := b.newClient(kgo.TransactionalID("open"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(context.Background(), &kgo.Record{Topic: topic, Value: []byte(`{"n":2}`)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "the first two committed", func() bool { return b.committedOffset(0) == 2 })
	b.neverCommits(t, 0, 3, 50*time.Millisecond)
	if p := l.Status().Partitions[0]; p.Lag() != 0 {
		t.Errorf("lag %d before an open transaction, expected 0", p.Lag())
	}
	if err := client.EndTransaction(context.Background(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the transaction is read", func() bool { return b.committedOffset(0) == 4 })
	l.stop()
	s.wantOnce(t, 3)
}

func TestHolesInOffsetsArePassed(t *testing.T) {
	b := newBroker(t, 1, kfake.BrokerConfigs(map[string]string{"log.cleanup.policy": "compact"}))
	compact := kmsg.NewIncrementalAlterConfigsRequest()
	value := "compact"
	compact.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: topic,
		Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "cleanup.policy", Value: &value}}}}
	if _, err := compact.RequestWith(context.Background(), b.client); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		b.send(&kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%d", i%7), Value: fmt.Appendf(nil, `{"n":%d}`, i)})
	}
	b.Compact()
	s := newStore()
	o := b.options(s)
	o.MaxBatchRecords = 2
	l := start(t, o)
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == 60 })
	l.stop()
	if n, _ := s.count(); n == 60 || n < 7 {
		t.Errorf("%d records written of a compacted topic with 7 keys; did it compact?", n)
	}
}

func TestOffsetGoneStopsAndSays(t *testing.T) {
	b := newBroker(t, 2)
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
			strings.Contains(problems[0], "next is offset 10, and the log is 15 to 20")
	})
	eventually(t, "the other goes on", func() bool { return b.committedOffset(1) == 20 })
	b.neverCommits(t, 0, 11, 30*time.Millisecond)
	l.stop()
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
			o.Hooks.Skipped = func(_ int, f, t int64) { from.Store(f); to.Store(t) }
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

// A topic that was deleted and made anew is shorter than what is committed: stop, or begin again by policy; and then the
// commit goes back with it, or a crash would lose what lies between.
func TestTopicMadeAnew(t *testing.T) {
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
	b.client = b.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	b.sent[0] = 0
	b.produce(4, 0)
	b.commit(0, 10) // brokers may or may not forget the group's offsets with the topic; kfake does
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

func TestLeaderMovesAreFollowed(t *testing.T) {
	b := newBroker(t, 1, kfake.NumBrokers(3))
	s := newStore()
	l := start(t, b.options(s))
	for i := range 3 {
		b.produce(50, 0)
		want := int64(50 * (i + 1))
		eventually(t, "written", func() bool { return s.holds(0, want) })
		if err := b.MoveTopicPartition(topic, 0, (b.LeaderFor(topic, 0)+1)%3); err != nil {
			t.Fatal(err)
		}
	}
	b.produce(50, 0)
	eventually(t, "written", func() bool { return s.holds(0, 200) })
	l.stop()
	s.wantOnce(t, 200)
}

func TestFailingFetchIsMadeAgain(t *testing.T) {
	for _, e := range []*kerr.Error{kerr.NotLeaderForPartition, kerr.UnknownTopicOrPartition, kerr.KafkaStorageError, kerr.UnknownServerError, kerr.FencedLeaderEpoch, kerr.TopicAuthorizationFailed} {
		t.Run(e.Message, func(t *testing.T) {
			b := newBroker(t, 1)
			b.produce(10, 0)
			b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: e, Count: 3})
			s := newStore()
			var waits atomic.Int64
			o := b.options(s)
			o.Hooks.Waiting = func(int, event.Reason, error) { waits.Add(1) }
			l := start(t, o)
			eventually(t, "written", func() bool { return s.holds(0, 10) })
			l.stop()
			s.wantOnce(t, 10)
			if waits.Load() != 3 {
				t.Errorf("it waited %d times, expected 3", waits.Load())
			}
		})
	}
}

func TestCutConnectionsAreMadeAgain(t *testing.T) {
	b := newBroker(t, 2)
	b.produce(1000, 0, 1)
	s := newStore()
	for i := range 5 { // the i-th fetch is cut off
		var n atomic.Int64
		b.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
			if n.Add(1) == int64(i+1) {
				return nil, errors.New("cut"), true
			}
			return nil, nil, false
		})
	}
	l := start(t, b.options(s))
	eventually(t, "all written", func() bool { return s.holds(0, 1000) && s.holds(1, 1000) })
	l.stop()
	s.wantOnce(t, 2000)
}

func TestRecordLargerThanAFetch(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(3, 0)
	b.send(&kgo.Record{Topic: topic, Value: []byte(`{"n":3}`), Key: []byte(strings.Repeat("k", 900<<10))})
	b.sent[0]++
	b.produce(3, 0)
	s := newStore()
	o := b.options(s)
	o.MaxFetchBytes, o.Budget = 64<<10, NewBudget(512<<10)
	l := start(t, o)
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == 7 })
	l.stop()
	s.wantOnce(t, 7)
}
