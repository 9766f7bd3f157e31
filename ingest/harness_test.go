package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
)

const (
	topic = "courier.scans"
	group = "brine.scans.rows"
)

var schema = event.Schema{Fields: []event.Field{{Name: "n", Type: event.Int}}, Version: -1}

// broker is a Kafka of one test.
type broker struct {
	*kfake.Cluster
	t      testing.TB
	client *kgo.Client
	sent   map[int]int64 // per partition, the next offset
}

func newBroker(t testing.TB, partitions int, more ...kfake.Opt) *broker {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(int32(partitions), topic),
		kfake.GroupMinSessionTimeout(100 * time.Millisecond)}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	b := &broker{Cluster: c, t: t, sent: map[int]int64{}}
	b.client = b.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	return b
}

func (b *broker) newClient(opts ...kgo.Opt) *kgo.Client {
	b.t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(b.ListenAddrs()...), kgo.MaxProduceRequestsInflightPerBroker(1), kgo.ProducerBatchCompression(kgo.NoCompression())}, opts...)...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(client.Close)
	return client
}

// produce appends n good records to each of the partitions.
func (b *broker) produce(n int, partitions ...int) {
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

func (b *broker) send(records ...*kgo.Record) {
	b.t.Helper()
	if err := b.client.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		b.t.Fatal(err)
	}
}

// poison appends one record that is no JSON.
func (b *broker) poison(partition int) {
	b.t.Helper()
	b.send(&kgo.Record{Topic: topic, Partition: int32(partition), Key: []byte("poison"), Value: []byte("not json"),
		Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("abc")}}})
	b.sent[partition]++
}

// options are those of a test: short pauses, long time-outs.
func (b *broker) options(w Writer) Options {
	return Options{
		Kafka: Kafka{Brokers: b.ListenAddrs()}, Topic: topic, Group: group, Schema: schema, Writer: w,
		Heartbeat: 50 * time.Millisecond, CommitInterval: 20 * time.Millisecond, RequestTimeout: 5 * time.Second,
		RetryMin: time.Millisecond, RetryMax: 20 * time.Millisecond, HaltPause: 20 * time.Millisecond,
		StopTimeout: 5 * time.Second, Logger: testLogger(b.t),
	}
}

// running is a Loop under way.
type running struct {
	*Loop
	t      testing.TB
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

func start(t testing.TB, o Options) *running {
	t.Helper()
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Loop: l, t: t, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		if r.err = l.Run(ctx); r.err != nil {
			t.Errorf("Run: %v", r.err)
		}
	}()
	t.Cleanup(func() { cancel(); <-r.done })
	return r
}

// stop ends the loop gracefully.
func (r *running) stop() {
	r.t.Helper()
	r.cancel()
	<-r.done
	if r.err != nil {
		r.t.Fatalf("Run: %v", r.err)
	}
}

// kill ends it as a kill of the process would: all connections are cut, nothing more is committed.
func (r *running) kill() {
	r.t.Helper()
	r.cluster.close()
	r.cancel()
	<-r.done
}

// committedOffset is what the broker holds for the group, −1 for nothing.
func (b *broker) committedOffset(partition int) int64 {
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

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("not within 10 s: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// place is where a record is in Kafka.
type place struct {
	partition int
	offset    int64
}

// store is a Writer in memory. decide, when set, says what becomes of a batch: it is called before Wait returns.
type store struct {
	mu      sync.Mutex
	written map[place]int // how often
	calls   int
	out     int // flights not settled
	decide  func(call int, b []place) ([]event.Failure, error)
	gate    func(call int) <-chan struct{} // Wait returns when it is closed; nil: at once
}

func newStore() *store { return &store{written: map[place]int{}} }

func (s *store) Submit(ctx context.Context, b *event.Batch) event.Flight {
	f := &storeFlight{store: s}
	for _, e := range b.Events {
		if want := fmt.Sprintf(`{"n":%d}`, e.Values[0].Int()); want != string(e.Record.Value) {
			panic(fmt.Sprintf("the event at offset %d does not match its record: %s, %s", e.Record.Offset, want, e.Record.Value))
		}
		f.places = append(f.places, place{e.Record.Partition, e.Record.Offset})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.call = s.calls
	s.calls++
	s.out++
	if s.gate != nil {
		f.gate = s.gate(f.call)
	}
	return f
}

type storeFlight struct {
	store  *store
	call   int
	places []place
	gate   <-chan struct{}
}

func (f *storeFlight) Wait(ctx context.Context) ([]event.Failure, error) {
	if f.gate != nil {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s := f.store
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out--
	var failures []event.Failure
	if s.decide != nil {
		var err error
		if failures, err = s.decide(f.call, f.places); err != nil {
			return nil, err
		}
	}
	failed := map[int]bool{}
	for _, x := range failures {
		failed[x.Index] = true
	}
	for i, p := range f.places {
		if !failed[i] {
			s.written[p]++
		}
	}
	return failures, nil
}

func (s *store) count() (places, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.written {
		times += n
	}
	return len(s.written), times
}

// submits is the number of calls of Submit.
func (s *store) submits() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// holds reports whether every record of partition below offset is written.
func (s *store) holds(partition int, below int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for o := range below {
		if s.written[place{partition, o}] == 0 {
			return false
		}
	}
	return true
}

// all makes every event of a batch fail alike.
func all(b []place, v event.Verdict, reason event.Reason) []event.Failure {
	var failures []event.Failure
	for i := range b {
		failures = append(failures, event.Failure{Index: i, Verdict: v, Reason: reason, Err: errors.New("as the test wants it")})
	}
	return failures
}

// letters is DeadLetters in memory.
type letters struct {
	mu   sync.Mutex
	got  map[place]DeadLetter
	fail func(call int) error
	n    int
}

func (l *letters) Write(_ context.Context, batch []DeadLetter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	if l.fail != nil {
		if err := l.fail(l.n - 1); err != nil {
			return err
		}
	}
	if l.got == nil {
		l.got = map[place]DeadLetter{}
	}
	for _, x := range batch {
		rec := *x.Record
		rec.Value = []byte(strings.Clone(string(rec.Value)))
		x.Record = &rec
		l.got[place{rec.Partition, rec.Offset}] = x
	}
	return nil
}

func (l *letters) has(p place) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.got[p]
	return ok
}

// testLogger logs to the test, when it runs with -v.
func testLogger(t testing.TB) *slog.Logger {
	if !testing.Verbose() {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("test", t.Name())
}

// wantCommitted checks what the broker holds for the group.
func (b *broker) wantCommitted(offsets map[int]int64) {
	b.t.Helper()
	for p, want := range offsets {
		if got := b.committedOffset(p); got != want {
			b.t.Errorf("partition %d: committed %d, expected %d", p, got, want)
		}
	}
}

// neverCommits watches for a while that no offset from bound on is committed.
func (b *broker) neverCommits(t testing.TB, partition int, bound int64, while time.Duration) {
	t.Helper()
	for end := time.Now().Add(while); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if got := b.committedOffset(partition); got >= bound {
			t.Fatalf("partition %d: %d is committed; it must stay below %d", partition, got, bound)
		}
	}
}

// wantOnce checks that n records were written, each once.
func (s *store) wantOnce(t testing.TB, n int) {
	t.Helper()
	if places, times := s.count(); places != n || times != n {
		t.Errorf("%d records written %d times, expected %d once", places, times, n)
	}
}

func fromKgo(r *kgo.Record) *event.Record {
	rec := &event.Record{Topic: r.Topic, Partition: int(r.Partition), Offset: r.Offset, Timestamp: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		rec.Headers = append(rec.Headers, event.Header{Key: h.Key, Value: h.Value})
	}
	return rec
}
