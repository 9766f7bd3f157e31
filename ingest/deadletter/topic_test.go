package deadletter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
	"brine/ingest/internal/broker"
)

func openDead(t *testing.T, b *fakeKafka) *Topic {
	t.Helper()
	c := broker.New(b.kafka(), time.Minute, topic, topic+".dead")
	t.Cleanup(c.Close)
	d, err := OpenTopic(t.Context(), c, topic+".dead", topic, 2)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDeadLetterIsTheWholeRecord(t *testing.T) {
	b := newBroker(t, 2)
	d := openDead(t, b)
	now := time.UnixMilli(1_800_000_000_000)
	write := []Letter{
		{Record: &event.Record{Topic: topic, Partition: 1, Offset: 7, Timestamp: 99}, Reason: event.Undecodable, Group: group, Detail: "the record has no value", Time: now},
		{Record: &event.Record{Topic: topic, Partition: 1, Offset: 8, Timestamp: -1, Key: []byte{}, Value: []byte{0, 0xff}, Headers: []event.Header{
			{Key: "trace", Value: []byte("x")}, {Key: HeaderOffset, Value: []byte("4")}, {Key: "empty", Value: nil}}},
			Reason: event.MissingField, Field: strings.Repeat("order.", 4000) + "id", Detail: strings.Repeat("d", 20<<10), Group: group, Time: now},
		{Record: &event.Record{Topic: topic, Partition: 0, Offset: 9, Key: []byte("k"), Value: bytes.Repeat([]byte("v"), 600<<10)}, Reason: event.TooLarge, Group: group, Time: now},
		{Record: &event.Record{Topic: topic, Partition: 0, Offset: 10, Value: bytes.Repeat([]byte("w"), 1<<20)}, Reason: event.TooLarge, Group: group, Time: now},
	}
	if err := d.Write(context.Background(), write); err != nil {
		t.Fatal(err)
	}
	reader := b.newClient(kgo.ConsumeTopics(topic+".dead"), kgo.FetchMaxBytes(64<<20))
	got := map[int64]Letter{}
	for len(got) < len(write) {
		for _, r := range reader.PollFetches(t.Context()).Records() {
			l, err := Read(fromKgo(r))
			if err != nil {
				t.Fatal(err)
			}
			if int(r.Partition) != l.Record.Partition {
				t.Errorf("offset %d of partition %d is in partition %d", l.Record.Offset, l.Record.Partition, r.Partition)
			}
			got[l.Record.Offset] = l
		}
	}
	for _, w := range write {
		g := got[w.Record.Offset]
		short := (&event.Error{Field: w.Field, Detail: w.Detail}).Short()
		if w.Field, w.Detail = short.Field, short.Detail; len(w.Field) > 200 || len(w.Detail) > 4<<10 {
			t.Errorf("a field of %d bytes, a detail of %d", len(w.Field), len(w.Detail))
		}
		if fmt.Sprintf("%#v %v", *g.Record, g.Record.Headers == nil) != fmt.Sprintf("%#v %v", *w.Record, w.Record.Headers == nil) && len(w.Record.Value) < 100 {
			t.Errorf("record %#v, expected %#v", *g.Record, *w.Record)
		}
		if !bytes.Equal(g.Record.Value, w.Record.Value) || (g.Record.Value == nil) != (w.Record.Value == nil) {
			t.Errorf("offset %d: the value is another", w.Record.Offset)
		}
		g.Record, w.Record = nil, nil
		if fmt.Sprint(g) != fmt.Sprint(w) {
			t.Errorf("letter %+v, expected %+v", g, w)
		}
	}
}

// A call that was given up may still be sent, when the dead letter's record is no longer valid.
func TestDeadLetterThatIsSentLateIsTheWholeRecord(t *testing.T) {
	b := newBroker(t, 1)
	d := openDead(t, b)
	const key, value, header = "k", `{"n":"one"}`, "x"
	letter := func() Letter {
		return Letter{Record: &event.Record{Topic: topic, Key: []byte(key), Value: []byte(value), Headers: []event.Header{{Key: "trace", Value: []byte(header)}}},
			Reason: event.Undecodable, Group: group}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		if err := d.Write(t.Context(), []Letter{letter()}); err != nil { // opens a connection for the next call
			t.Fatal(err)
		}
		l := letter()
		if err := d.Write(over, []Letter{l}); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for _, b := range [][]byte{l.Record.Key, l.Record.Value, l.Record.Headers[0].Value} { // the memory now belongs to another record
			copy(b, "!!!!!!!!!!!!")
		}
	}
	reader := b.newClient(kgo.ConsumeTopics(topic + ".dead"))
	letters := int64(0)
	for end := b.PartitionInfo(topic+".dead", 0).HighWatermark; letters < end; {
		for _, r := range reader.PollFetches(t.Context()).Records() {
			l, err := Read(fromKgo(r))
			if err != nil {
				t.Fatal(err)
			}
			if r := l.Record; string(r.Key) != key || string(r.Value) != value || len(r.Headers) != 1 || string(r.Headers[0].Value) != header {
				t.Errorf("a letter is of %q: %q, %q", r.Key, r.Value, r.Headers)
			}
			letters++
		}
	}
	if letters == 50 {
		t.Error("none of the letters that were given up was sent")
	}
}

func TestDeadLetterTopicTakesTheLargestRecord(t *testing.T) {
	b := newBroker(t, 2)
	openDead(t, b)
	info := b.TopicInfo(topic + ".dead")
	if info == nil || info.Configs["max.message.bytes"] == nil || *info.Configs["max.message.bytes"] != fmt.Sprint(1048588+extra) {
		t.Fatalf("dead-letter topic %+v", info)
	}
	if n := len(b.PartitionInfos(topic + ".dead")); n != 2 {
		t.Errorf("%d partitions, expected 2", n)
	}
	openDead(t, b) // it exists already
}

// TestNewTopicIsWaitedFor checks that the first dead letter is written although the brokers do not name the new topic yet, and that a topic
// that is gone is not waited for.
func TestNewTopicIsWaitedFor(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		host, port, err := net.SplitHostPort(b.ListenAddrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		at, err := strconv.ParseInt(port, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		var from atomic.Pointer[time.Time] // when the topic was created
		b.ControlKey(int16(kmsg.CreateTopics), func(kmsg.Request) (kmsg.Response, error, bool) {
			now := time.Now()
			from.Store(&now)
			return nil, nil, false
		})
		b.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
			b.KeepControl()
			if created := from.Load(); created == nil || time.Since(*created) > time.Second {
				return nil, nil, false
			}
			answer := r.ResponseKind().(*kmsg.MetadataResponse)
			answer.Brokers = []kmsg.MetadataResponseBroker{{Host: host, Port: int32(at)}}
			for _, asked := range r.(*kmsg.MetadataRequest).Topics {
				answer.Topics = append(answer.Topics, kmsg.MetadataResponseTopic{Topic: asked.Topic, ErrorCode: 3})
			}
			return answer, nil, true
		})
		d := openDead(t, b)
		write := func() error {
			return d.Write(t.Context(), []Letter{{Record: &event.Record{Topic: topic}, Reason: event.Undecodable, Group: group}})
		}
		began := time.Now()
		if err := write(); err != nil || from.Load() == nil || time.Since(began) > settling {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		if err := b.DeleteTopic(topic + ".dead"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(settling)
		began = time.Now()
		if err := write(); err == nil || time.Since(began) > 0 {
			t.Errorf("a topic that is gone was waited for: %v after %v", err, time.Since(began))
		}
	})
}

func TestNoDeadLetter(t *testing.T) {
	for name, headers := range map[string][]event.Header{
		"without headers": nil,
		"without topic":   {{Key: HeaderOffset, Value: []byte("1")}},
		"no number":       {{Key: HeaderTopic, Value: []byte("t")}, {Key: HeaderOffset, Value: []byte("one")}},
	} {
		if _, err := Read(&event.Record{Headers: headers}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
