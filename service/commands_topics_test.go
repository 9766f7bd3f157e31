package service

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/account"
	"brine/command"
	"brine/config"
	"brine/ingest"
	"brine/internal/testenv"
	"brine/publish"
	"brine/service/brokers"
)

// TestTopicsOfCommands checks that commands are found in a topic by their header, from the time on when they were accepted, and that it is
// noticed if the topic no longer has all of that time.
func TestTopicsOfCommands(t *testing.T) {
	broker := testenv.KafkaFake(t, 2, "orders")
	k := &config.Kafka{Brokers: broker.ListenAddrs(), RequestTimeout: 10 * time.Second}
	lookUps := brokers.Open(k)
	defer lookUps.Close()
	sender := publish.NewSender(ingest.Kafka{Brokers: k.Brokers}, k.RequestTimeout)
	defer sender.Close()
	topics := commandTopics{k, lookUps}
	began := time.UnixMilli(1_700_000_000_000)
	for i := range 10 { // by others, and every third by a desk
		record := []publish.Record{{Key: []byte("k"), Value: []byte("{}"), Time: began.Add(time.Duration(i) * time.Minute)}}
		header, ids := "", []string(nil)
		if i%3 == 0 {
			header, ids = command.Header, []string{fmt.Sprint("c", i)}
		}
		if _, err := sender.Send(t.Context(), "orders", 1, record, header, ids); err != nil {
			t.Fatal(err)
		}
	}
	since := func(part int, minutes int) string {
		from, to, whole, err := topics.Since(t.Context(), "orders", part, began.Add(time.Duration(minutes)*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(from, to, whole)
	}
	for minutes, want := range map[int]string{-9: "0 10 true", 0: "0 10 true", 4: "4 10 true", 9: "9 10 true", 10: "10 10 true"} {
		if got := since(1, minutes); got != want {
			t.Errorf("since minute %d: %s, want %s", minutes, got, want)
		}
	}
	if got := since(0, 4); got != "0 0 true" {
		t.Errorf("an empty partition: %s", got)
	}
	var seen []string
	for r, err := range topics.Records(t.Context(), "orders", 1, 2, 10) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, fmt.Sprint(r.Offset, r.Command))
	}
	if got, want := strings.Join(seen, " "), "2 3c3 4 5 6c6 7 8 9c9"; got != want {
		t.Errorf("records %s, want %s", got, want)
	}
	deleteBefore(t, k.Brokers, 1, 5)
	for minutes, want := range map[int]string{0: "5 10 false", 5: "5 10 false", 6: "6 10 true", 10: "10 10 true"} {
		if got := since(1, minutes); got != want {
			t.Errorf("since minute %d, after others were deleted: %s, want %s", minutes, got, want)
		}
	}
	deleteBefore(t, k.Brokers, 1, 10)
	if got := since(1, 10); got != "10 10 false" {
		t.Errorf("after all were deleted: %s", got)
	}
	for topic, part := range map[string]int{"orders": 2, "nothing": 0} {
		if from, to, _, err := topics.Since(t.Context(), topic, part, began); err == nil {
			t.Errorf("partition %d of %s: %d to %d", part, topic, from, to)
		}
	}
	broker.Close()
	if _, _, _, err := topics.Since(t.Context(), "orders", 1, began); err == nil || errors.Is(err, t.Context().Err()) {
		t.Errorf("the broker is away: %v", err)
	}
}

// deleteBefore deletes the first records of a partition of the topic orders.
func deleteBefore(t *testing.T, addrs []string, partition int32, before int64) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addrs...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 10_000
	req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "orders", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: partition, Offset: before}}}}
	for _, shard := range client.RequestSharded(t.Context(), req) {
		if shard.Err != nil {
			t.Fatal(shard.Err)
		}
	}
}

// TestLateCommandsAreAudited checks the entry of a command that was applied after it had failed.
func TestLateCommandsAreAudited(t *testing.T) {
	accounts, err := account.Open(t.Context(), account.Options{Connect: "embedded:" + filepath.Join(t.TempDir(), "accounts")})
	if err != nil {
		t.Fatal(err)
	}
	defer accounts.Close()
	s := &Service{accounts: accounts}
	if err := s.auditLate(t.Context(), &command.Entry{ID: "c7", Table: "centre:orders", Command: "confirm", Row: []byte("secret"), Detail: "it was late"}); err != nil {
		t.Fatal(err)
	}
	list, err := accounts.Entries(t.Context(), 0, "", 10)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	e := list[0]
	if got := fmt.Sprintf("%s %s %q %q", e.Account, e.Action, e.Object, e.Reason); got != `(brine) command.late "centre:orders confirm id=c7" "it was late"` {
		t.Error(got)
	}
}
