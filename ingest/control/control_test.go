package control

import (
	"context"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
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

// Two processes change the same group, each without having seen the other's change.
func TestALimitAndAPauseOfTwoProcessesHold(t *testing.T) {
	onBoth(t, testALimitAndAPauseOfTwoProcessesHold)
}

func testALimitAndAPauseOfTwoProcessesHold(t *testing.T, topic *Topic) {
	at := time.UnixMilli(1_700_000_000_000).UTC()
	put := func(as func(context.Context, string, Entry) error, e Entry) {
		t.Helper()
		if err := as(t.Context(), "a", e); err != nil {
			t.Fatal(err)
		}
	}
	put(topic.Put, Entry{Limit: 9, By: "an earlier version", At: at})
	topic.want(t, "an earlier version's limit", map[string]Entry{"a": {Limit: 9, By: "an earlier version", At: at}})
	put(topic.PutLimit, Entry{Limit: 500, By: "you", At: at.Add(2)})
	put(topic.Put, Entry{Paused: true, Limit: 9, By: "me", At: at.Add(1)}) // by who had not seen 500
	topic.want(t, "both", map[string]Entry{"a": {Paused: true, Limit: 500, By: "you", At: at.Add(2)}})
	put(topic.PutLimit, Entry{At: at.Add(3)})
	topic.want(t, "no limit", map[string]Entry{"a": {Paused: true, At: at.Add(3)}})
	put(topic.Put, Entry{At: at.Add(4)})
	topic.want(t, "nothing", map[string]Entry{})
	again := Open(topic.opts)
	defer again.Close()
	again.want(t, "read from the start", map[string]Entry{})
}

// A broker that has just started may not know the topic yet. What is paused stays paused.
func TestAPauseIsNotLiftedByABrokerThatDoesNotKnowTheTopicYet(t *testing.T) {
	kafka, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	topic := Open(Options{Kafka: broker.Kafka{Brokers: kafka.ListenAddrs()}, Topic: "control", Logger: slog.New(slog.DiscardHandler)})
	defer topic.Close()
	paused := map[string]Entry{"a": {Paused: true, At: time.UnixMilli(1).UTC()}}
	if err := topic.Put(t.Context(), "a", paused["a"]); err != nil {
		t.Fatal(err)
	}
	topic.want(t, "paused", paused)
	kafka.ControlKey(int16(kmsg.Metadata), func(q kmsg.Request) (kmsg.Response, error, bool) {
		kafka.KeepControl()
		r := q.ResponseKind().(*kmsg.MetadataResponse)
		r.Brokers = []kmsg.MetadataResponseBroker{}
		for _, asked := range q.(*kmsg.MetadataRequest).Topics {
			of := kmsg.NewMetadataResponseTopic()
			of.Topic, of.ErrorCode = asked.Topic, kerr.UnknownTopicOrPartition.Code
			r.Topics = append(r.Topics, of)
		}
		return r, nil, true
	})
	for look := 1; look <= absences; look++ {
		got, err := topic.Read(t.Context())
		if gone := look == absences; gone != (err == nil) || len(got) > 0 {
			t.Errorf("look %d without the topic: %v, %v; expected an error in the first %d", look, got, err, absences-1)
		}
	}
}
