package brokers

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/config"
	"brine/forecast"
)

// TestSamplesLeaveOutWhatWasAborted checks that a sample of a topic, as for plan and check, has what the loop would read: no records of
// aborted or open transactions, and without waiting for open ones.
func TestSamplesLeaveOutWhatWasAborted(t *testing.T) {
	const topic = "courier.scans"
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	transactions := 0
	transaction := func(n int, end func(*kgo.Client) error) {
		t.Helper()
		transactions++
		client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...), kgo.TransactionalID(fmt.Sprint("t", transactions)))
		if err == nil {
			t.Cleanup(client.Close)
			err = client.BeginTransaction()
		}
		for i := 0; i < n && err == nil; i++ {
			err = client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Key: []byte("k"), Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("w")}}}).FirstErr()
		}
		if err == nil {
			err = end(client)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	end := func(how kgo.TransactionEndTry) func(*kgo.Client) error {
		return func(c *kgo.Client) error { return c.EndTransaction(t.Context(), how) }
	}
	transaction(3, end(kgo.TryCommit))                     // 0–2, marker 3
	transaction(4, end(kgo.TryAbort))                      // 4–7, marker 8
	transaction(2, end(kgo.TryCommit))                     // 9–10, marker 11
	transaction(5, func(*kgo.Client) error { return nil }) // 12–16, open
	cfg := &config.Config{Kafka: config.Kafka{Brokers: broker.ListenAddrs(), RequestTimeout: time.Minute}}
	want := []int64{0, 1, 2, 9, 10}

	latest, err := Topics{cfg}.Latest(t.Context(), topic, 100)
	if err != nil {
		t.Fatal(err)
	}
	var offsets []int64
	for _, r := range latest {
		if offsets = append(offsets, r.Offset); string(r.Key) != "k" || string(r.Value) != "v" || len(r.Headers) != 1 || string(r.Headers[0].Value) != "w" || r.Timestamp == 0 {
			t.Errorf("offset %d came as %+v", r.Offset, r)
		}
	}
	if !slices.Equal(offsets, want) {
		t.Errorf("the latest are of offsets %v, want %v", offsets, want)
	}

	scans, problems := config.Load("../../examples/scans.yaml", func(string) (string, bool) { return "", false })
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	scans.Kafka = cfg.Kafka
	sample, err := Topics{scans}.Sample(t.Context(), topic, forecast.TopicRecords)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := scans.Forecast("scans")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // it can be read again
		seen, err := forecast.Run(t.Context(), sample, targets, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(seen) == 0 || seen[0].Records != len(want) {
			t.Errorf("the sample is %+v, want records of offsets %v", seen, want)
		}
	}
}
