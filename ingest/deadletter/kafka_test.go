package deadletter

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"brine/event"
	"brine/ingest/internal/broker"
	"brine/internal/memnet"
)

const (
	topic = "courier.scans"
	group = "brine.scans.rows"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeKafka is the Kafka of one test.
type fakeKafka struct {
	*kfake.Cluster
	t    testing.TB
	dial func(ctx context.Context, network, address string) (net.Conn, error) // nil: over TCP
}

func newBroker(t testing.TB, partitions int32) *fakeKafka {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &fakeKafka{Cluster: c, t: t}
}

// inBubble runs a test in a synctest bubble with a broker on an in-memory network.
func inBubble(t *testing.T, partitions int32, test func(t *testing.T, b *fakeKafka)) {
	synctest.Test(t, func(t *testing.T) {
		n := memnet.New(1)
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, topic), kfake.ListenFn(n.NewPlace("broker").Listen))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		test(t, &fakeKafka{c, t, n.NewPlace("brine").Dial})
	})
}

func (b *fakeKafka) kafka() broker.Kafka { return broker.Kafka{Brokers: b.ListenAddrs(), Dial: b.dial} }

// newClient returns a client that sets the partition of each record itself.
func (b *fakeKafka) newClient(opts ...kgo.Opt) *kgo.Client {
	b.t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(b.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner())}, opts...)...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(client.Close)
	return client
}

func (b *fakeKafka) send(records ...*kgo.Record) {
	b.t.Helper()
	if err := b.newClient().ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		b.t.Fatal(err)
	}
}

func fromKgo(r *kgo.Record) *event.Record {
	rec := &event.Record{Topic: r.Topic, Partition: int(r.Partition), Offset: r.Offset, Timestamp: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		rec.Headers = append(rec.Headers, event.Header{Key: h.Key, Value: h.Value})
	}
	return rec
}

// target returns a target that writes to a store.
func target(s *store) *Target {
	return &Target{Name: "scans.rows", Group: group, Writer: s, RetryMin: time.Millisecond, RetryMax: 20 * time.Millisecond,
		Schema: event.Schema{Fields: []event.Field{{Name: "n", Type: event.Int}}, Version: -1}}
}

// place is the position of a record in its own topic.
type place struct {
	partition int
	offset    int64
}

// store is a Writer in memory. decide, if set, decides the outcome of a batch.
type store struct {
	mu      sync.Mutex
	written map[place]int // how often
	calls   int
	decide  func(call int, batch []place) ([]event.Failure, error)
}

func newStore() *store { return &store{written: map[place]int{}} }

func (s *store) Submit(_ context.Context, b *event.Batch) event.Flight {
	f := &storeFlight{store: s, call: s.calls}
	for _, e := range b.Events {
		f.places = append(f.places, place{e.Record.Partition, e.Record.Offset})
	}
	s.calls++
	return f
}

func (s *store) Release() {}
func (s *store) Hurry()   {}

type storeFlight struct {
	store  *store
	call   int
	places []place
}

func (f *storeFlight) Wait(context.Context, event.Until) (o event.Outcome, err error) {
	s := f.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.decide != nil {
		if o.Failures, err = s.decide(f.call, f.places); err != nil {
			return event.Outcome{}, err
		}
	}
	for i, p := range f.places {
		if !slices.ContainsFunc(o.Failures, func(x event.Failure) bool { return x.Index == i }) {
			s.written[p]++
		}
	}
	return o, nil
}

// offsets returns the written offsets of a partition, ascending.
func (s *store) offsets(partition int) (out []int64) {
	for p := range s.written {
		if p.partition == partition {
			out = append(out, p.offset)
		}
	}
	slices.Sort(out)
	return out
}

// all makes every event of a batch fail the same way.
func all(batch []place, v event.Verdict, reason event.Reason) []event.Failure {
	var failures []event.Failure
	for i := range batch {
		failures = append(failures, event.Failure{Index: i, Verdict: v, Reason: reason, Err: errors.New("as the test wants it")})
	}
	return failures
}
