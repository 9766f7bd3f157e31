package broker

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What members send each other is read by, and from, another client's code.
func TestSubscriptionsAreThoseOfOtherClients(t *testing.T) {
	var theirs kmsg.ConsumerMemberMetadata
	if err := theirs.ReadFrom(subscription("courier.scans", []byte("what I know"))); err != nil || !slices.Equal(theirs.Topics, []string{"courier.scans"}) || string(theirs.UserData) != "what I know" {
		t.Errorf("%+v, %v", theirs, err)
	}
	for version := range int16(4) {
		m := kmsg.NewConsumerMemberMetadata()
		m.Version, m.Topics, m.UserData = version, []string{"a", "b"}, []byte("x")
		m.OwnedPartitions = []kmsg.ConsumerMemberMetadataOwnedPartition{{Topic: "a", Partitions: []int32{1}}}
		if topics, err := subscribed(m.AppendTo(nil)); err != nil || !slices.Equal(topics, []string{"a", "b"}) {
			t.Errorf("version %d: %q, %v", version, topics, err)
		}
	}
}

func TestAssignmentsAreThoseOfOtherClients(t *testing.T) {
	ours := appointment(map[string][]int{"courier.scans": {0, 3}})
	var theirs kmsg.ConsumerMemberAssignment
	if err := theirs.ReadFrom(ours); err != nil || len(theirs.Topics) != 1 || theirs.Topics[0].Topic != "courier.scans" || !slices.Equal(theirs.Topics[0].Partitions, []int32{0, 3}) {
		t.Errorf("%+v, %v", theirs, err)
	}
	theirs.Topics = append(theirs.Topics, kmsg.ConsumerMemberAssignmentTopic{Topic: "other", Partitions: []int32{7}})
	for topic, want := range map[string][]int{"courier.scans": {0, 3}, "other": {7}, "absent": nil} {
		if got, err := appointed(theirs.AppendTo(nil), topic); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; expected %v", topic, got, err, want)
		}
	}
	if got, err := appointed(nil, "courier.scans"); err != nil || got != nil {
		t.Errorf("no assignment gives %v, %v", got, err)
	}
}

// metadata is an answer as another client's code writes it.
func metadata(topics ...kmsg.MetadataResponseTopic) []byte {
	m := kmsg.NewPtrMetadataResponse()
	m.Version = metadataVersion
	cluster, rack := "c", "r"
	m.ClusterID = &cluster
	m.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 1, Host: "h1", Port: 9092, Rack: &rack}, {NodeID: 2, Host: "h2", Port: 9092}}
	m.Topics = topics
	return append([]byte{0}, m.AppendTo(nil)...)
}

func metadataTopic(name string, code int16, partitions int) kmsg.MetadataResponseTopic {
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic, topic.ErrorCode, topic.TopicID = &name, code, [16]byte{1, 2, 3}
	for i := range partitions {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.Replicas, p.ISR = int32(i), []int32{1, 2}, []int32{1}
		topic.Partitions = append(topic.Partitions, p)
	}
	return topic
}

func TestTopicAnswer(t *testing.T) {
	a, err := parseTopic(metadata(metadataTopic("t", 0, 5)))
	if err != nil || a.err != nil || a.state != (Topic{topicID{1, 2, 3}, 5}) {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = parseTopic(metadata(metadataTopic("t", 3, 0))); err != nil || a.err == nil || a.state.Partitions != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	for _, bad := range [][]byte{nil, metadata(), metadata(metadataTopic("t", 0, 1), metadataTopic("u", 0, 1)), metadata(metadataTopic("t", 0, 1))[:40]} {
		if a, err := parseTopic(bad); err == nil {
			t.Errorf("%x gives %+v", bad, a)
		}
	}
}

func FuzzTopicAnswer(f *testing.F) {
	f.Add(metadata(metadataTopic("t", 0, 5)))
	f.Add(metadata(metadataTopic("t", 3, 0)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := parseTopic(b); (a == nil) == (err == nil) {
			t.Fatalf("%v and %v", a, err)
		}
	})
}

func FuzzMembership(f *testing.F) {
	f.Add(subscription("t", []byte("k")), "t")
	f.Add(appointment(map[string][]int{"t": {0, 1}}), "t")
	f.Fuzz(func(t *testing.T, b []byte, topic string) {
		if topics, err := subscribed(b); err == nil && len(topics) > len(b) {
			t.Fatalf("%d topics in %d bytes", len(topics), len(b))
		}
		if partitions, err := appointed(b, topic); err == nil && len(partitions) > len(b) {
			t.Fatalf("%d partitions in %d bytes", len(partitions), len(b))
		}
	})
}
