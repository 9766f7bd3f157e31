package brokers

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/config"
	"brine/ingest/offsets"
)

// TestSetAllSaysWhatItHasSet checks that if the offsets of one group cannot be set, the groups set before are counted and named, and that
// if the broker does not answer, the error says that the offsets may be set.
func TestSetAllSaysWhatItHasSet(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(*kmsg.OffsetCommitRequest) (kmsg.Response, error)
		want   string
	}{
		{"refused", func(q *kmsg.OffsetCommitRequest) (kmsg.Response, error) {
			r := q.ResponseKind().(*kmsg.OffsetCommitResponse)
			topic := kmsg.NewOffsetCommitResponseTopic()
			topic.Topic = q.Topics[0].Topic
			p := kmsg.NewOffsetCommitResponseTopicPartition()
			p.ErrorCode = kerr.TopicAuthorizationFailed.Code
			topic.Partitions = append(topic.Partitions, p)
			r.Topics = append(r.Topics, topic)
			return r, nil
		}, "set before: scans.rows"},
		{"not answered", func(*kmsg.OffsetCommitRequest) (kmsg.Response, error) { return nil, errors.New("cut off") },
			"the offsets may or may not have been set: check with brine offsets show; set before: scans.rows"},
	} {
		broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "courier.scans"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(broker.Close)
		broker.ControlKey(int16(kmsg.OffsetCommit), func(q kmsg.Request) (kmsg.Response, error, bool) {
			broker.KeepControl()
			if commit := q.(*kmsg.OffsetCommitRequest); strings.HasSuffix(commit.Group, ".documents") {
				r, err := c.answer(commit)
				return r, err, true
			}
			return nil, nil, false
		})
		cfg := scansOf(t)
		cfg.Kafka.Brokers, cfg.Kafka.RequestTimeout = broker.ListenAddrs(), time.Minute
		client := Open(&cfg.Kafka)
		defer client.Close()
		p := cfg.Pipelines[0]
		var groups []*Group
		for _, kind := range []string{"rows", "documents", "rows"} {
			half := config.Half{Pipeline: p, Kind: kind}
			groups = append(groups, &Group{Group: &offsets.Group{Group: "g." + kind, Topic: "courier.scans"}, Half: half})
		}
		moves := [][]offsets.Move{{{Partition: 0}}, {{Partition: 0}}, {{Partition: 0}}}
		if set, err := SetAll(t.Context(), client, groups, moves); set != 1 || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d set, %v; want %q", c.name, set, err, c.want)
		}
	}
}
