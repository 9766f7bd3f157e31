package broker

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Another client's code can read what members send each other, and we can read what it writes.
func TestSubscriptionsAreThoseOfOtherClients(t *testing.T) {
	two := map[string]Topic{"shop.orders": {topicID{1}, 12}, "courier.scans": {Partitions: 3}}
	var theirs kmsg.ConsumerMemberMetadata
	if err := theirs.ReadFrom(subscription(two)); err != nil || !slices.Equal(theirs.Topics, []string{"courier.scans", "shop.orders"}) {
		t.Errorf("%+v, %v", theirs, err)
	}
	if topics, err := subscribed(subscription(two)); err != nil || !maps.Equal(topics, map[string]int{"courier.scans": 3, "shop.orders": 12}) {
		t.Errorf("ours: %v, %v", topics, err)
	}
	for version := range int16(4) {
		for data, knows := range map[string]int{"x": 0, "a: 7 partitions, id x\nc: 2 partitions\n": 7, "a: -1 partitions": 0, "a: 99999999 partitions": 0} {
			m := kmsg.NewConsumerMemberMetadata()
			m.Version, m.Topics, m.UserData = version, []string{"a", "b"}, []byte(data)
			m.OwnedPartitions = []kmsg.ConsumerMemberMetadataOwnedPartition{{Topic: "a", Partitions: []int32{1}}}
			if topics, err := subscribed(m.AppendTo(nil)); err != nil || !maps.Equal(topics, map[string]int{"a": knows, "b": 0}) {
				t.Errorf("version %d, %q: %v, %v", version, data, topics, err)
			}
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
	got, err := appointed(theirs.AppendTo(nil))
	if err != nil || len(got) != 2 || !slices.Equal(got["courier.scans"], []int{0, 3}) || !slices.Equal(got["other"], []int{7}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := appointed(nil); err != nil || len(got) != 0 {
		t.Errorf("no assignment gives %v, %v", got, err)
	}
}

// One topic is spread evenly, in ranges; many small ones do not all go to the first member.
func TestPartitionsAreSpread(t *testing.T) {
	members := []string{"c", "a", "b"}
	for n, want := range []string{"[] [] []", "[0] [] []", "[0] [1] []", "[0] [1] [2]", "[0 1] [2] [3]", "[0 1] [2 3] [4]"} {
		got := spread(map[string]int{"t": n}, map[string][]string{"t": members})
		if text := fmt.Sprint(got["a"]["t"], got["b"]["t"], got["c"]["t"]); text != want {
			t.Errorf("%d partitions: %s, expected %s", n, text, want)
		}
	}
	partitions, subscribers := map[string]int{}, map[string][]string{}
	for i := range 30 {
		name := fmt.Sprintf("tenant-%02d", i)
		partitions[name], subscribers[name] = 1+i%2, members
	}
	subscribers["tenant-00"] = []string{"a"} // the others have not seen it yet
	all := map[string]bool{}
	for id, topics := range spread(partitions, subscribers) {
		mine := 0
		for name, ids := range topics {
			for _, p := range ids {
				at := fmt.Sprint(name, "/", p)
				if all[at] {
					t.Errorf("%s is assigned twice", at)
				}
				all[at] = true
				mine++
			}
		}
		if mine < 13 || mine > 17 {
			t.Errorf("%s has %d of 45 partitions", id, mine)
		}
		if _, foreign := topics["tenant-00"]; foreign && id != "a" {
			t.Errorf("%s has a topic that it did not ask for", id)
		}
	}
	if len(all) != 45 {
		t.Errorf("%d partitions are assigned, expected 45", len(all))
	}
}

// metadata is an answer written by another client's code.
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
	own := metadataTopic("__own", 0, 2)
	own.IsInternal = true
	a, err := parseTopics(metadata(metadataTopic("t", 0, 5), metadataTopic("u", 3, 0), own))
	if err != nil || len(a.topics) != 3 || a.topics["t"] != (described{state: Topic{topicID{1, 2, 3}, 5}}) ||
		a.topics["u"].err == nil || !a.topics["__own"].internal || a.topics["__own"].state.Partitions != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := parseTopics(metadata()); err != nil || len(a.topics) != 0 {
		t.Errorf("none gives %+v, %v", a, err)
	}
	for _, bad := range [][]byte{nil, metadata(metadataTopic("t", 0, 1))[:40], metadata(metadataTopic("t", 0, 1))[:60]} {
		if a, err := parseTopics(bad); err == nil {
			t.Errorf("%x gives %+v", bad, a)
		}
	}
}

// Another client's code can read the request.
func TestTopicRequestIsThatOfOtherClients(t *testing.T) {
	for _, names := range [][]string{nil, {"t"}, {"courier.scans", "shop.orders"}} {
		b := (&topicCall{topics: names, client: "brine"}).request()
		theirs := kmsg.NewPtrMetadataRequest()
		theirs.Version = metadataVersion
		if err := theirs.ReadFrom(b[4+2+2+4+2+len("brine")+1:]); err != nil || (theirs.Topics == nil) != (names == nil) || len(theirs.Topics) != len(names) || theirs.AllowAutoTopicCreation {
			t.Fatalf("%q: %+v, %v", names, theirs, err)
		}
		for i, topic := range theirs.Topics {
			if *topic.Topic != names[i] {
				t.Errorf("topic %q, expected %q", *topic.Topic, names[i])
			}
		}
	}
}

func FuzzTopicAnswer(f *testing.F) {
	f.Add(metadata(metadataTopic("t", 0, 5)))
	f.Add(metadata(metadataTopic("t", 3, 0), metadataTopic("u", 0, 2)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := parseTopics(b); (a == nil) == (err == nil) {
			t.Fatalf("%v and %v", a, err)
		}
	})
}

func FuzzMembership(f *testing.F) {
	f.Add(subscription(map[string]Topic{"t": {Partitions: 2}, "u": {Partitions: 1}}))
	f.Add(appointment(map[string][]int{"t": {0, 1}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		topics, err := subscribed(b)
		if err == nil && len(topics) > len(b) {
			t.Fatalf("%d topics in %d bytes", len(topics), len(b))
		}
		for name, partitions := range topics {
			if partitions < 0 || partitions > maxPartitions {
				t.Fatalf("%d partitions of %q", partitions, name)
			}
		}
		ours, err := appointed(b)
		if err != nil {
			return
		}
		n := 0
		for _, partitions := range ours {
			n += len(partitions)
		}
		if n > len(b) {
			t.Fatalf("%d partitions in %d bytes", n, len(b))
		}
	})
}
