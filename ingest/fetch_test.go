package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

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
			o.Hooks.Waiting = func(WaitingInfo) { waits.Add(1) }
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
