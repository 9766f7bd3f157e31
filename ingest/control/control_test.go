package control

import (
	"context"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/goleak"

	"brine/event"
	"brine/ingest/internal/broker"
	"brine/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onBoth runs a test with a topic of an embedded Kafka and one of a real Kafka.
func onBoth(t *testing.T, test func(t *testing.T, topic *Topic)) {
	open := func(t *testing.T, brokers []string) *Topic {
		topic := Open(Options{Kafka: broker.Kafka{Brokers: brokers}, Topic: testenv.Name(t), Every: 10 * time.Millisecond,
			Logger: slog.New(slog.DiscardHandler)})
		t.Cleanup(topic.Close)
		return topic
	}
	t.Run("embedded", func(t *testing.T) {
		kafka, err := kfake.NewCluster(kfake.NumBrokers(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(kafka.Close)
		topic := open(t, kafka.ListenAddrs())
		topic.want(t, "no topic", map[string]Entry{})
		if kafka.TopicInfo(topic.opts.Topic) != nil {
			t.Error("reading has made the topic")
		}
		test(t, topic)
	})
	t.Run("real", func(t *testing.T) { test(t, open(t, testenv.Kafka(t))) })
}

func (t *Topic) want(test *testing.T, what string, want map[string]Entry) {
	test.Helper()
	got, err := t.Read(test.Context())
	if err != nil || !maps.Equal(got, want) {
		test.Errorf("%s: %v, %v; expected %v", what, got, err, want)
	}
}

func TestTheLastThatIsAskedHolds(t *testing.T) { onBoth(t, testTheLastThatIsAskedHolds) }

func testTheLastThatIsAskedHolds(t *testing.T, topic *Topic) {
	at := time.UnixMilli(1_700_000_000_000).UTC()
	topic.want(t, "no topic", map[string]Entry{})
	put := func(group string, e Entry) {
		t.Helper()
		if err := topic.Put(t.Context(), group, e); err != nil {
			t.Fatal(err)
		}
	}
	paused, limited := Entry{Paused: true, By: "me", At: at}, Entry{Limit: 500, At: at}
	put("a", paused)
	put("b", paused)
	put("b", limited)
	topic.want(t, "two groups", map[string]Entry{"a": paused, "b": limited})
	for _, value := range []string{"{", `{"limit":-1,"paused":true}`, `[]`} { // values that others write are ignored
		rec := event.Record{Timestamp: 1, Key: []byte("a"), Value: []byte(value)}
		if err := topic.cluster.Produce(t.Context(), topic.opts.Topic, 0, []event.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	put("b", Entry{At: at})
	topic.want(t, "after nonsense, and nothing asked of b", map[string]Entry{"a": paused})
	again := Open(topic.opts) // another process
	defer again.Close()
	again.want(t, "read from the start", map[string]Entry{"a": paused})
}

func TestFollowSaysWhatChanges(t *testing.T) { onBoth(t, testFollowSaysWhatChanges) }

func testFollowSaysWhatChanges(t *testing.T, topic *Topic) {
	ctx, cancel := context.WithCancel(t.Context())
	asked, done := make(chan map[string]Entry), make(chan struct{})
	go func() {
		defer close(done)
		topic.Follow(ctx, func(now map[string]Entry) { asked <- now }, func(err error) { t.Error(err) })
	}()
	if now := <-asked; len(now) != 0 {
		t.Errorf("at first %v", now)
	}
	if err := topic.Put(t.Context(), "a", Entry{Paused: true}); err != nil {
		t.Fatal(err)
	}
	if now := <-asked; !now["a"].Paused {
		t.Errorf("then %v", now)
	}
	cancel()
	<-done
}
