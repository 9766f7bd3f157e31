package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
	"brine/ingest/internal/broker"
	"brine/internal/testenv"
)

// TestRealKafka runs the loop on a real broker: compressed batches, aborted and committed transactions, poison, two members of which one
// leaves, a stop, and a replay.
func TestRealKafka(t *testing.T) {
	eachProtocol(t, realKafka)
}

func realKafka(t *testing.T, protocol GroupProtocol) {
	brokers := testenv.Kafka(t)
	topic := testenv.Name(t)
	const partitions, each = 3, 2000
	admin := realClient(t, brokers)
	createReal(t, admin, topic, partitions)
	t.Cleanup(func() { deleteReal(t, admin, topic, topic+".dead") })
	produce := func(client *kgo.Client, n int, value string) {
		t.Helper()
		var records []*kgo.Record
		for p := range partitions {
			for i := range n {
				records = append(records, &kgo.Record{Topic: topic, Partition: int32(p), Value: fmt.Appendf(nil, value, i)})
			}
		}
		if err := client.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	codecs := []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}
	for _, codec := range codecs {
		produce(realClient(t, brokers, kgo.ProducerBatchCompression(codec)), each/len(codecs), `{"n":%d}`)
	}
	for i, end := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit, kgo.TryAbort} {
		tx := realClient(t, brokers, kgo.TransactionalID(fmt.Sprint(topic, i)))
		if err := tx.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		produce(tx, 10, `{"n":%d}`)
		if err := tx.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	produce(admin, 1, `poison %d`)

	s, d := newStore(), &letters{}
	options := func() Options {
		return Options{Kafka: Kafka{Brokers: brokers}, Topic: topic, Group: topic, Schema: schema, Writer: s,
			CommitInterval: 50 * time.Millisecond, Heartbeat: 100 * time.Millisecond, Logger: testLogger(t), GroupProtocol: protocol}
	}
	first, second := start(t, options()), start(t, options())
	const good = partitions * (each + 10)
	eventually(t, "all written", func() bool { n, _ := s.count(); return n == good })
	eventually(t, "two share", func() bool {
		return len(first.Status().Partitions) > 0 && len(second.Status().Partitions) > 0
	})
	produce(admin, 100, `{"n":%d}`)
	first.stop()
	produce(admin, 100, `{"n":%d}`)
	eventually(t, "the rest written", func() bool { n, _ := s.count(); return n == good+200*partitions })
	second.stop()
	s.wantOnce(t, good+200*partitions)

	c := broker.New(second.Kafka, 5*time.Second, topic)
	defer c.Close()
	committed, err := c.Commits(t.Context(), topic, topic, broker.Topic{Partitions: partitions}.IDs())
	if err != nil {
		t.Fatal(err)
	}
	for p := range partitions {
		if end, err := c.Offset(t.Context(), topic, p, broker.Newest); err != nil || committed[p].Offset != end {
			t.Errorf("partition %d: committed %d, the end is %d (%v)", p, committed[p].Offset, end, err)
		}
	}

	again := newStore()
	o := ReplayOptions{Options: options(), Name: "again"}
	o.Writer, o.DeadLetters = again, d
	r, err := NewReplay(o)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := r.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	again.wantOnce(t, good+200*partitions)
	if len(d.got) != partitions {
		t.Errorf("%d dead letters in the replay, expected %d", len(d.got), partitions)
	}
	for at, l := range d.got {
		if l.Reason != event.Undecodable {
			t.Errorf("%v: reason %s", at, l.Reason)
		}
	}
	t.Logf("%d events on real Kafka, live and replayed; the replay read %d offsets", good+200*partitions, plan.Left())
}

func realClient(t *testing.T, brokers []string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func createReal(t *testing.T, admin *kgo.Client, topic string, partitions int32) {
	t.Helper()
	create := kmsg.NewCreateTopicsRequest()
	create.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}}
	if r, err := create.RequestWith(t.Context(), admin); err != nil || r.Topics[0].ErrorCode != 0 {
		t.Fatalf("creating the topic: %v, %+v", err, r)
	}
	eventually(t, "the broker knows the topic", func() bool {
		known := describeReal(t, admin, topic)
		return known.ErrorCode == 0 && len(known.Partitions) == int(partitions)
	})
}

func describeReal(t *testing.T, client *kgo.Client, topic string) kmsg.MetadataResponseTopic {
	t.Helper()
	ask := kmsg.NewPtrMetadataRequest()
	ask.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
	r, err := ask.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	return r.Topics[0]
}

func deleteReal(t *testing.T, admin *kgo.Client, topics ...string) {
	t.Helper()
	drop := kmsg.NewDeleteTopicsRequest()
	for _, name := range topics {
		drop.TopicNames = append(drop.TopicNames, name)
		drop.Topics = append(drop.Topics, kmsg.DeleteTopicsRequestTopic{Topic: &name})
	}
	if _, err := drop.RequestWith(context.Background(), admin); err != nil {
		t.Error(err)
	}
}

// realMember is a static member on a real broker.
func realMember(t *testing.T, brokers []string, topic, instance string, s *store, generations *atomic.Int64) Options {
	o := Options{Kafka: Kafka{Brokers: brokers}, Topic: topic, Group: topic, Schema: schema, Writer: s, InstanceID: instance, SessionTimeout: 20 * time.Second,
		CommitInterval: 50 * time.Millisecond, Heartbeat: 100 * time.Millisecond, HaltPause: 100 * time.Millisecond, Logger: testLogger(t)}
	o.Hooks.Assigned = func(AssignedInfo) { generations.Add(1) }
	return o
}

// A real broker's coordinator gives a static member its partitions back, and fences the first of two processes with one id.
func TestRealStaticMember(t *testing.T) {
	brokers, topic := testenv.Kafka(t), testenv.Name(t)
	admin := realClient(t, brokers)
	createReal(t, admin, topic, 4)
	t.Cleanup(func() { deleteReal(t, admin, topic, topic+".dead") })
	s := newStore()
	var other, ours atomic.Int64
	first := start(t, realMember(t, brokers, topic, "pod-0", s, &other))
	second := start(t, realMember(t, brokers, topic, "pod-1", s, &ours))
	eventually(t, "both have two", func() bool { return len(first.assigned()) == 2 && len(second.assigned()) == 2 })
	for _, restarted := range []**running{&first, &second} { // one of them leads the group
		before, all := (*restarted).assigned(), other.Load()+ours.Load()
		instance := (*restarted).InstanceID
		(*restarted).stop()
		*restarted = start(t, realMember(t, brokers, topic, instance, s, &ours))
		eventually(t, "it is back", func() bool { return (*restarted).Status().Joined && slices.Equal((*restarted).assigned(), before) })
		if n := other.Load() + ours.Load(); n != all+1 {
			t.Errorf("%s was restarted: %d generations were begun, expected its own alone", instance, n-all)
		}
	}
	fenced, err := New(realMember(t, brokers, topic, "pod-2", s, &ours))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- fenced.Run(t.Context()) }()
	eventually(t, "it has joined", func() bool { return fenced.Status().Joined })
	last := start(t, realMember(t, brokers, topic, "pod-2", s, &ours))
	select {
	case err := <-ended:
		if !errors.Is(err, broker.ErrFenced) {
			t.Errorf("the first pod-2 ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("two processes are pod-2")
	}
	eventually(t, "the last has joined", func() bool { return last.Status().Joined })
}

// A real topic is deleted and recreated while the loop runs: nothing of the new one is skipped.
func TestRealTopicRecreated(t *testing.T) {
	eachProtocol(t, realTopicRecreated)
}

func realTopicRecreated(t *testing.T, protocol GroupProtocol) {
	brokers, topic := testenv.Kafka(t), testenv.Name(t)
	admin := realClient(t, brokers)
	createReal(t, admin, topic, 1)
	t.Cleanup(func() { deleteReal(t, admin, topic, topic+".dead") })
	produce := func(n int) {
		t.Helper()
		eventually(t, "the records are acknowledged", func() bool { // a broker may know a topic before it has its log
			var records []*kgo.Record
			for i := range n {
				records = append(records, &kgo.Record{Topic: topic, Value: fmt.Appendf(nil, `{"n":%d}`, i)})
			}
			return realClient(t, brokers).ProduceSync(t.Context(), records...).FirstErr() == nil
		})
	}
	produce(10)
	s := newStore()
	var generations atomic.Int64
	o := realMember(t, brokers, topic, "", s, &generations)
	o.OutOfRange, o.GroupProtocol = FromEarliest, protocol
	l := start(t, o)
	eventually(t, "the old topic is written", func() bool { return s.holds(0, 10) })
	eventually(t, "it is committed", func() bool { return l.Status().Partitions[0].Committed == 10 })
	old := describeReal(t, admin, topic).TopicID
	deleteReal(t, admin, topic)
	eventually(t, "it is deleted", func() bool {
		create := kmsg.NewCreateTopicsRequest()
		create.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: topic, NumPartitions: 1, ReplicationFactor: 1}}
		r, err := create.RequestWith(t.Context(), admin)
		return err == nil && r.Topics[0].ErrorCode == 0
	})
	eventually(t, "the broker knows the new topic", func() bool { // until then, records go to the old one
		known := describeReal(t, realClient(t, brokers), topic)
		return known.ErrorCode == 0 && known.TopicID != old && len(known.Partitions) == 1 && known.Partitions[0].ErrorCode == 0
	})
	produce(50)
	eventually(t, "all of the new topic is written", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.written[place{0, 0}] >= 2 && s.written[place{0, 9}] >= 2 && s.written[place{0, 49}] >= 1
	})
	l.stop()
}
