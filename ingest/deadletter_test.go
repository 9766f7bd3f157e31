package ingest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/ingest/deadletter"
	"brine/ingest/internal/broker"
)

// openDead creates the test's topic of dead letters.
func (b *fakeKafka) openDead(t *testing.T) {
	t.Helper()
	c := broker.New(Kafka{Brokers: b.ListenAddrs(), Dial: b.dial}, 5*time.Second, topic, topic+".dead")
	defer c.Close()
	if _, err := deadletter.OpenTopic(t.Context(), c, topic+".dead", topic, 1); err != nil {
		t.Fatal(err)
	}
}

// TestDeadLetterTooLargeForItsTopicHoldsThePartition: the partition is waiting, reports the fix, and goes on once the topic accepts the dead
// letter.
func TestDeadLetterTooLargeForItsTopicHoldsThePartition(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.openDead(t)
		resize := func(bytes string) {
			t.Helper()
			transport := &kafka.Transport{Dial: b.dial}
			defer transport.CloseIdleConnections()
			client := &kafka.Client{Addr: kafka.TCP(b.ListenAddrs()...), Transport: transport}
			if _, err := client.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{{
				ResourceType: kafka.ResourceTypeTopic, ResourceName: topic + ".dead",
				Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: "max.message.bytes", Value: bytes, ConfigOperation: kafka.ConfigOperationSet}},
			}}}); err != nil {
				t.Fatal(err)
			}
		}
		resize("20000")
		large := make([]byte, 64<<10)
		_, _ = rand.NewChaCha8([32]byte{}).Read(large) // never fails; random bytes cannot be compressed
		b.send(&kgo.Record{Topic: topic, Key: []byte("k"), Value: large})
		for range 30 { // each one fits the topic, all together do not
			b.send(&kgo.Record{Topic: topic, Value: large[:3000]})
		}
		l := start(t, b.options(newStore()))
		eventually(t, "it says the fix", func() bool {
			problems := l.Status().Problems(time.Now(), time.Millisecond)
			return len(problems) == 1 && strings.Contains(problems[0], "partition 0, offset 0 is too large") && strings.Contains(problems[0], "--add-config max.message.bytes=131")
		})
		b.neverCommits(t, 0, 1, 50*time.Millisecond)
		resize("80000")
		eventually(t, "settled", func() bool { return b.committedOffset(0) == 31 })
		l.stop()
		if n := b.PartitionInfo(topic+".dead", 0).HighWatermark; n != 31 {
			t.Errorf("%d letters, expected 31", n)
		}
	})
}
