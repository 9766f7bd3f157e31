package publish

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/time/rate"

	"brine/ingest"
	brokers "brine/ingest/embedded"
	"brine/internal/testenv"
)

// TestPublishIsExactlyOnceUnderEachFault makes each request of a publish fail (the first of its kind, then the second and so on) with
// errors that pass, that do not, and that occur after the work was done. Whenever one publish fails, another one resumes. Readers of
// committed records must find each record once.
func TestPublishIsExactlyOnceUnderEachFault(t *testing.T) {
	t.Parallel()
	const records, batch, partitions = 60, 20, 2
	broker := testenv.KafkaFake(t, partitions)
	failed := 0
	for n, f := range []struct {
		key kmsg.Key
		err *kerr.Error
	}{
		{kmsg.Produce, kerr.NotEnoughReplicasAfterAppend}, {kmsg.Produce, kerr.InvalidRecord}, {kmsg.Produce, kerr.RequestTimedOut},
		{kmsg.AddPartitionsToTxn, kerr.ConcurrentTransactions}, {kmsg.AddPartitionsToTxn, kerr.InvalidTxnState},
		{kmsg.AddOffsetsToTxn, kerr.CoordinatorNotAvailable}, {kmsg.AddOffsetsToTxn, kerr.TransactionalIDAuthorizationFailed},
		{kmsg.TxnOffsetCommit, kerr.RequestTimedOut}, {kmsg.TxnOffsetCommit, kerr.GroupAuthorizationFailed},
		{kmsg.EndTxn, kerr.CoordinatorLoadInProgress}, {kmsg.EndTxn, kerr.InvalidProducerEpoch},
		{kmsg.OffsetFetch, kerr.UnstableOffsetCommit}, {kmsg.InitProducerID, kerr.ConcurrentTransactions},
	} {
		for index := range 3 {
			topic := fmt.Sprintf("t%d_%d", n, index)
			createTopic(t, broker, topic, partitions)
			seen := 0
			fault := broker.Fault(kfake.Fault{Keys: []kmsg.Key{f.key}, Err: f.err, When: func(kmsg.Request) bool { seen++; return seen == index+1 }})
			tries := publishUntilDone(t, broker, topic, batch, numbered(records))
			failed += tries - 1
			fault.Remove()
			if got := countCommitted(t, broker, topic, partitions); len(got) != records {
				t.Errorf("%s, request %d fails with %s: %d records after %d tries, expected %d", f.key.Name(), index, f.err.Message, len(got), tries, records)
			} else {
				for value, times := range got {
					if times != 1 {
						t.Errorf("%s, request %d fails with %s: record %s is there %d times", f.key.Name(), index, f.err.Message, value, times)
					}
				}
			}
		}
	}
	if failed == 0 {
		t.Error("no publishing failed: the faults hit nothing")
	}
	t.Logf("%d publishings failed and were begun again", failed)
}

// TestAnswersWithoutThePartitionAreRefused: taken for success, or for nothing published yet, such answers would cause records to be
// published twice.
func TestAnswersWithoutThePartitionAreRefused(t *testing.T) {
	t.Parallel()
	const records, partitions, topic = 10, 2, "cut"
	for _, key := range []kmsg.Key{kmsg.TxnOffsetCommit, kmsg.OffsetFetch} {
		broker := testenv.KafkaFake(t, partitions, topic)
		publish := func() error {
			p := Transactions{Topic: topic, Name: "publish." + topic, batch: records}
			_, _, err := p.Publish(t.Context(), options(broker, 5*time.Second), numbered(records), false)
			return err
		}
		if key == kmsg.OffsetFetch {
			if err := publish(); err != nil {
				t.Fatal(err)
			}
		}
		broker.ControlKey(key.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
			resp := req.ResponseKind()
			if r, ok := resp.(*kmsg.OffsetFetchResponse); ok && req.GetVersion() >= 8 {
				r.Groups = []kmsg.OffsetFetchResponseGroup{{Group: "publish." + topic}}
			}
			return resp, nil, true
		})
		if err := publish(); !errors.Is(err, errNoPartition) {
			t.Errorf("%s: %v", key.Name(), err)
		}
		if err := publish(); err != nil {
			t.Errorf("%s, once more: %v", key.Name(), err)
		}
		for value, times := range countCommitted(t, broker, topic, partitions) {
			if times != 1 {
				t.Errorf("%s: record %s is there %d times", key.Name(), value, times)
			}
		}
	}
}

// TestPublishAtARateGoesOnWhereItStopped ends a publish after each transaction that it commits while it waits for its next record's turn.
func TestPublishAtARateGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	const records, partitions, topic = 60, 2, "paced"
	broker := testenv.KafkaFake(t, partitions, topic)
	stops := 0
	for stopped := true; stopped; {
		ctx, stop := context.WithCancel(t.Context())
		p := Transactions{Topic: topic, Name: "publish." + topic, Limit: rate.NewLimiter(50, 1), Sent: func(int64) { stop() }}
		_, _, err := p.Publish(ctx, options(broker, 5*time.Second), numbered(records), false)
		stop()
		if stopped = errors.Is(err, context.Canceled); stopped {
			stops++
		} else if err != nil {
			t.Fatalf("after %d stops: %v", stops, err)
		}
	}
	got := countCommitted(t, broker, topic, partitions)
	for value, times := range got {
		if times != 1 {
			t.Errorf("record %s is there %d times", value, times)
		}
	}
	if len(got) != records || stops < 3 {
		t.Errorf("%d of %d records are there after %d stops", len(got), records, stops)
	}
}

func numbered(n int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for i := range n {
			if !yield(Record{Key: fmt.Appendf(nil, "k%d", i%7), Value: fmt.Appendf(nil, "%d", i)}, nil) {
				return
			}
		}
	}
}

// publishUntilDone publishes with one process after another, and returns how many it took.
func publishUntilDone(t *testing.T, broker *brokers.Broker, topic string, batch int64, records iter.Seq2[Record, error]) int {
	t.Helper()
	for try := 1; ; try++ {
		p := Transactions{Topic: topic, Name: "publish." + topic, batch: batch}
		_, _, err := p.Publish(t.Context(), options(broker, 5*time.Second), records, false)
		if err == nil {
			return try
		}
		if try == 5 {
			t.Fatalf("%s: %v after %d tries", topic, err, try)
		}
	}
}

func options(broker *brokers.Broker, timeout time.Duration) Options {
	return Options{Kafka: ingest.Kafka{Brokers: broker.ListenAddrs()}, RequestTimeout: timeout}
}

func createTopic(t *testing.T, broker *brokers.Broker, topic string, partitions int) {
	t.Helper()
	resp, err := kafkaClient(t, broker).CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}}})
	if err = errors.Join(err, resp.Errors[topic]); err != nil {
		t.Fatal(err)
	}
}

func kafkaClient(t *testing.T, broker *brokers.Broker) *kafka.Client {
	transport := &kafka.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &kafka.Client{Addr: kafka.TCP(broker.ListenAddrs()...), Timeout: time.Minute, Transport: transport}
}

// countCommitted reads a topic as brine does, and returns how often each value occurs.
func countCommitted(t *testing.T, broker *brokers.Broker, topic string, partitions int) map[string]int {
	t.Helper()
	asked := map[string][]kafka.OffsetRequest{}
	for p := range partitions {
		asked[topic] = append(asked[topic], kafka.LastOffsetOf(p))
	}
	ends, err := kafkaClient(t, broker).ListOffsets(t.Context(), &kafka.ListOffsetsRequest{Topics: asked})
	if err != nil {
		t.Fatal(err)
	}
	reader := ingest.NewTopicReader(ingest.Options{Kafka: ingest.Kafka{Brokers: broker.ListenAddrs()}, Topic: topic})
	defer reader.Close()
	got := map[string]int{}
	for _, p := range ends.Topics[topic] {
		for r, err := range reader.Records(t.Context(), p.Partition, 0, p.LastOffset) {
			if err != nil {
				t.Fatal(err)
			}
			got[string(r.Value)]++
		}
	}
	return got
}
