package offsets

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"brine/ingest/internal/broker"
)

const (
	topic = "courier.scans"
	group = "brine.scans.rows"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tenRecords returns a client of a broker whose topic has two partitions, with ten records, a minute apart, in the first.
func tenRecords(t *testing.T) (*Client, *kfake.Cluster, time.Time) {
	t.Helper()
	b, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	producer, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	first := time.UnixMilli(1_357_000_000_000)
	for i := range 10 {
		r := &kgo.Record{Topic: topic, Timestamp: first.Add(time.Duration(i) * time.Minute), Value: fmt.Append(nil, i)}
		if err := producer.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	c := Open(broker.Kafka{Brokers: b.ListenAddrs()}, time.Minute)
	t.Cleanup(c.Close)
	return c, b, first
}

func TestTargets(t *testing.T) {
	c, _, first := tenRecords(t)
	if err := c.Set(t.Context(), &Group{Group: group, Topic: topic}, []Move{{Partition: 0, Then: 4}}); err != nil {
		t.Fatal(err)
	}
	g, err := c.Group(t.Context(), group, topic)
	if err != nil || !maps.Equal(g.Committed, map[int]int64{0: 4}) || !slices.Equal(g.Ends, []int64{10, 0}) || g.Lag(0) != 6 {
		t.Fatalf("%+v, %v", g, err)
	}
	for text, want := range map[string]map[int]int64{
		"earliest": {0: 0, 1: 0}, "latest": {0: 10, 1: 0}, "+3": {0: 7, 1: 0}, "-9": {0: 0, 1: 0}, "+99": {0: 10, 1: 0}, "0:2": {0: 2},
		first.Add(90 * time.Second).UTC().Format(time.RFC3339): {0: 2, 1: 0}, "1h": {0: 10, 1: 0},
	} {
		if got, err := c.Target(t.Context(), g, text, time.Now()); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %v; expected %v", text, got, err, want)
		}
	}
	for text, want := range map[string]error{"": ErrSyntax, "yesterday": ErrSyntax, "+x": ErrSyntax, "0:1,0:2": ErrSyntax, "2:1": ErrNoPartition} {
		if got, err := c.Target(t.Context(), g, text, time.Now()); !errors.Is(err, want) {
			t.Errorf("%q: %v, %v; expected %v", text, got, err, want)
		}
	}
}

func TestMoves(t *testing.T) {
	g := &Group{Group: group, Topic: topic, Starts: []int64{2, 0}, Ends: []int64{10, 5}, Committed: map[int]int64{0: 4}}
	for _, c := range []struct {
		to         map[int]int64
		partitions []int
		want       string
		fails      error
	}{
		{map[int]int64{0: 4}, nil, "", nil},
		{map[int]int64{0: 2, 1: 5}, nil, "0: 4 to 2, 2 again, 0 skipped; 1: nothing to 5, 0 again, 5 skipped; ", nil},
		{map[int]int64{0: 9, 1: 5}, []int{0}, "0: 4 to 9, 0 again, 5 skipped; ", nil},
		{map[int]int64{1: 0}, nil, "1: nothing to 0, 0 again, 0 skipped; ", nil},
		{map[int]int64{0: 1}, nil, "", ErrOutside},
		{map[int]int64{0: 11}, nil, "", ErrOutside},
		{map[int]int64{0: 4}, []int{2}, "", ErrNoPartition},
	} {
		moves, err := g.Moves(c.to, c.partitions)
		got := ""
		for _, m := range moves {
			now := "nothing"
			if m.Now != nil {
				now = fmt.Sprint(*m.Now)
			}
			got += fmt.Sprintf("%d: %s to %d, %d again, %d skipped; ", m.Partition, now, m.Then, m.Again, m.Skipped)
		}
		if got != c.want || !errors.Is(err, c.fails) {
			t.Errorf("to %v: %q, %v; expected %q, %v", c.to, got, err, c.want, c.fails)
		}
	}
}

func TestMissingTopicIsReported(t *testing.T) {
	c, _, _ := tenRecords(t)
	if _, err := c.Ends(t.Context(), "other"); !NoTopic(err) || !Answered(err) {
		t.Errorf("error %v", err)
	}
	if err := c.CreateTopic(t.Context(), "other", 3); err != nil {
		t.Fatal(err)
	}
	if ends, err := c.Ends(t.Context(), "other"); err != nil || len(ends) != 3 {
		t.Errorf("%v, %v", ends, err)
	}
	if err := c.CreateTopic(t.Context(), "other", 3); err != nil {
		t.Errorf("a topic that is there: %v", err)
	}
}

// TestGroupsAreFound checks that groups that have committed are found, and where; after Forget they are gone.
func TestGroupsAreFound(t *testing.T) {
	c, _, _ := tenRecords(t)
	if err := c.Set(t.Context(), &Group{Group: group, Topic: topic}, []Move{{Partition: 0, Then: 1}}); err != nil {
		t.Fatal(err)
	}
	if groups, err := c.Groups(t.Context()); err != nil || !slices.Equal(groups, []string{group}) {
		t.Errorf("groups %q, %v", groups, err)
	}
	if topics, err := c.Topics(t.Context(), group); err != nil || !slices.Equal(topics, []string{topic}) {
		t.Errorf("topics %q, %v", topics, err)
	}
	if err := c.Forget(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	if committed, err := c.CommittedAll(t.Context(), group, topic, 2); err != nil || len(committed) != 0 {
		t.Errorf("committed %v, %v", committed, err)
	}
}
