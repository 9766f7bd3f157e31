package publish

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/ingest"
	"brine/internal/testenv"
)

// TestSender checks that records get the returned offsets, with their headers and times, and that only an answer of the brokers is a final
// refusal.
func TestSender(t *testing.T) {
	t.Parallel()
	broker := testenv.KafkaFake(t, 2, "t")
	s := NewSender(ingest.Kafka{Brokers: broker.ListenAddrs()}, time.Minute)
	defer s.Close()
	records := []Record{{Key: []byte("a"), Value: []byte("1"), Time: time.UnixMilli(5)}, {Value: []byte("2"), Time: time.UnixMilli(6)}}
	for i := range int64(2) {
		if offset, err := s.Send(t.Context(), "t", 1, records, "h", []string{"x", "y"}); err != nil || offset != 2*i {
			t.Fatalf("offset %d: %v", offset, err)
		}
	}
	reader := ingest.NewTopicReader(ingest.Options{Kafka: ingest.Kafka{Brokers: broker.ListenAddrs()}, Topic: "t"})
	defer reader.Close()
	n := 0
	for r, err := range reader.Records(t.Context(), 1, 0, 4) {
		if err != nil {
			t.Fatal(err)
		}
		if want := records[n%2]; string(r.Value) != string(want.Value) || r.Timestamp != want.Time.UnixMilli() || string(r.Headers[0].Value) != []string{"x", "y"}[n%2] {
			t.Errorf("record %d is %+v", n, r)
		}
		n++
	}
	for code, want := range map[*kerr.Error]bool{kerr.MessageTooLarge: true, kerr.TopicAuthorizationFailed: true,
		kerr.InvalidTimestamp: true, kerr.RecordListTooLarge: true, kerr.UnsupportedForMessageFormat: true, kerr.InvalidRecord: true, kerr.NotEnoughReplicasAfterAppend: false} {
		fault := broker.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: code, Count: -1, When: func(kmsg.Request) bool { return true }})
		_, err := s.Send(t.Context(), "t", 0, records, "", nil)
		if err == nil || errors.Is(err, ErrNever) != want {
			t.Errorf("%s: %v", code.Message, err)
		}
		fault.Remove()
	}
}
