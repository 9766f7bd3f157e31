package testenv

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"brine/ingest/embedded"
)

// KafkaFake starts the embedded Kafka, with one broker and the given topics, on a free loopback port. It ends with the test. Its
// ListenAddrs are the bootstrap addresses.
func KafkaFake(t testing.TB, partitions int32, topics ...string) *embedded.Broker {
	t.Helper()
	b, err := embedded.Start(kfake.NumBrokers(1), kfake.SeedTopics(partitions, topics...))
	if err != nil {
		t.Fatalf("the embedded Kafka: %v", err)
	}
	t.Cleanup(b.Close)
	return b
}

// Name returns a name for a topic, group, table or index that no other run uses, with the test's name in it. It has only lower-case
// letters, digits and underscores, and starts with a letter.
func Name(t testing.TB) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(t.Name()))
	if len(clean) > 60 {
		clean = clean[:60]
	}
	return clean + "_" + strings.ToLower(rand.Text()[:8])
}
