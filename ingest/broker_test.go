package ingest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
)

const (
	topic = "courier.scans"
	group = "brine.scans.rows"
)

var schema = event.Schema{Fields: []event.Field{{Name: "n", Type: event.Int}}, Version: -1}

// fakeKafka is the Kafka of one test.
type fakeKafka struct {
	*kfake.Cluster
	t      testing.TB
	dial   dialFunc      // nil: over TCP
	client *kgo.Client   // the producer
	sent   map[int]int64 // per partition, the next offset

	protocol GroupProtocol // of members; empty: the default
}

// eachProtocol runs a test of group membership with both protocols.
func eachProtocol(t *testing.T, test func(t *testing.T, protocol GroupProtocol)) {
	for _, p := range []GroupProtocol{Classic, Consumer} {
		t.Run(string(p), func(t *testing.T) { test(t, p) })
	}
}

func newBroker(t testing.TB, partitions int, more ...kfake.Opt) *fakeKafka {
	t.Helper()
	b := &fakeKafka{t: t, sent: map[int]int64{}}
	b.begin(append([]kfake.Opt{kfake.SeedTopics(int32(partitions), topic), kfake.GroupMinSessionTimeout(100 * time.Millisecond),
		kfake.BrokerConfigs(map[string]string{"group.consumer.heartbeat.interval.ms": "50"})}, more...)...)
	b.client = b.newClient()
	return b
}

// shortSessions makes the broker soon notice that a member of the consumer protocol is gone; other tests must not lose a member that a busy
// machine keeps from its heartbeats.
func shortSessions() kfake.Opt {
	return kfake.BrokerConfigs(map[string]string{"group.consumer.session.timeout.ms": "3000"})
}

// evict removes the members of the group, as the end of their sessions does.
func (b *fakeKafka) evict() {
	b.t.Helper()
	q := kmsg.NewPtrLeaveGroupRequest()
	q.Group = group
	for _, m := range b.GroupInfo(group).Members {
		q.Members = append(q.Members, kmsg.LeaveGroupRequestMember{MemberID: m.MemberID})
	}
	if _, err := q.RequestWith(context.Background(), b.client); err != nil {
		b.t.Fatal(err)
	}
	if left := b.GroupInfo(group).Members; len(left) > 0 {
		b.t.Fatalf("the group still has %d members", len(left))
	}
}

// begin starts the cluster, with one broker unless an option says otherwise.
func (b *fakeKafka) begin(opts ...kfake.Opt) {
	b.t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	b.Cluster = c
}

// newClient returns a client that sets the partition of each record itself.
func (b *fakeKafka) newClient(opts ...kgo.Opt) *kgo.Client {
	b.t.Helper()
	own := []kgo.Opt{kgo.SeedBrokers(b.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MaxProduceRequestsInflightPerBroker(1), kgo.ProducerBatchCompression(kgo.NoCompression())}
	if b.dial != nil {
		own = append(own, kgo.Dialer(b.dial))
	}
	client, err := kgo.NewClient(append(own, opts...)...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(client.Close)
	return client
}

// produce appends n good records to each of the partitions.
func (b *fakeKafka) produce(n int, partitions ...int) {
	b.t.Helper()
	for _, p := range partitions {
		var records []*kgo.Record
		for range n {
			records = append(records, &kgo.Record{Topic: topic, Partition: int32(p), Key: fmt.Appendf(nil, "k%d", b.sent[p]), Value: fmt.Appendf(nil, `{"n":%d}`, b.sent[p])})
			b.sent[p]++
		}
		b.send(records...)
	}
}

func (b *fakeKafka) send(records ...*kgo.Record) {
	b.t.Helper()
	if err := b.client.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		b.t.Fatal(err)
	}
}

// poison appends a record that is not JSON.
func (b *fakeKafka) poison(partition int) {
	b.t.Helper()
	b.send(&kgo.Record{Topic: topic, Partition: int32(partition), Key: []byte("poison"), Value: []byte("not json"),
		Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("abc")}}})
	b.sent[partition]++
}

// defaults returns options with brine's default times, for tests with a simulated clock.
func (b *fakeKafka) defaults(w event.Writer) Options {
	return Options{Kafka: Kafka{Brokers: b.ListenAddrs(), Dial: b.dial}, Topic: topic, Group: group, Schema: schema, Writer: w, Logger: testLogger(b.t),
		GroupProtocol: b.protocol}
}

// options returns options with short pauses and long timeouts.
func (b *fakeKafka) options(w event.Writer) Options {
	o := b.defaults(w)
	o.Heartbeat, o.CommitInterval, o.RequestTimeout, o.StopTimeout = 50*time.Millisecond, 20*time.Millisecond, time.Minute, time.Minute
	o.RetryMin, o.RetryMax, o.HaltPause = time.Millisecond, 20*time.Millisecond, 20*time.Millisecond
	return o
}

// committedOffset returns the group's offset on the broker, or −1 if there is none.
func (b *fakeKafka) committedOffset(partition int) int64 {
	b.t.Helper()
	info := b.GroupInfo(group)
	if info == nil {
		return -1
	}
	if c, ok := info.Commits[topic][int32(partition)]; ok {
		return c.Offset
	}
	return -1
}

// wantCommitted checks the group's offsets on the broker.
func (b *fakeKafka) wantCommitted(offsets map[int]int64) {
	b.t.Helper()
	for p, want := range offsets {
		if got := b.committedOffset(p); got != want {
			b.t.Errorf("partition %d: committed %d, expected %d", p, got, want)
		}
	}
}

// neverCommits checks for a while, in a bubble, that no offset from bound on is committed.
func (b *fakeKafka) neverCommits(t testing.TB, partition int, bound int64, while time.Duration) {
	t.Helper()
	for end := time.Now().Add(while); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if got := b.committedOffset(partition); got >= bound {
			t.Fatalf("partition %d: %d is committed; it must stay below %d", partition, got, bound)
		}
	}
}

func fromKgo(r *kgo.Record) *event.Record {
	rec := &event.Record{Topic: r.Topic, Partition: int(r.Partition), Offset: r.Offset, Timestamp: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		rec.Headers = append(rec.Headers, event.Header{Key: h.Key, Value: h.Value})
	}
	return rec
}
