package ingest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
	"brine/internal/testenv"
)

// TestRealKafka takes the loop over a real broker: compressed batches, aborted and committed transactions, poison, two
// members of which one leaves, a stop, and a replay.
func TestRealKafka(t *testing.T) {
	brokers := testenv.Kafka(t)
	topic := testenv.Name(t)
	const partitions, each = 3, 2000
	admin := realClient(t, brokers)
	create := kmsg.NewCreateTopicsRequest()
	create.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}}
	if r, err := create.RequestWith(t.Context(), admin); err != nil || r.Topics[0].ErrorCode != 0 {
		t.Fatalf("creating the topic: %v, %+v", err, r)
	}
	t.Cleanup(func() {
		drop := kmsg.NewDeleteTopicsRequest()
		for _, name := range []string{topic, topic + ".dead"} {
			drop.TopicNames = append(drop.TopicNames, name)
			drop.Topics = append(drop.Topics, kmsg.DeleteTopicsRequestTopic{Topic: &name})
		}
		if _, err := drop.RequestWith(context.Background(), admin); err != nil {
			t.Error(err)
		}
	})
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
			CommitInterval: 50 * time.Millisecond, Heartbeat: 100 * time.Millisecond, Logger: testLogger(t)}
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

	c := newCluster(second.Kafka, 5*time.Second, topic)
	defer c.close()
	parts, err := c.partitions(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := c.committed(t.Context(), topic, topic, partitionIDs(parts))
	if err != nil {
		t.Fatal(err)
	}
	for p := range partitions {
		if end, err := c.offset(t.Context(), topic, p, newest); err != nil || committed[p].offset != end {
			t.Errorf("partition %d: committed %d, the end is %d (%v)", p, committed[p].offset, end, err)
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
