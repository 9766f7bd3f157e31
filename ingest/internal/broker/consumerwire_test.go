package broker

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Another client's code can read the requests of the consumer protocol and writes their answers.
func TestConsumerHeartbeatsAreThoseOfOtherClients(t *testing.T) {
	id := topicID{1, 2, 3}
	for version := range int16(2) {
		for _, q := range []*consumerBeat{
			{version: version, group: "g", member: "m", epoch: -1},
			{version: version, group: "g", member: "m", epoch: 0, instance: "pod-0", timeout: time.Minute, topics: []string{}, owned: held{}},
			{version: version, group: "g", member: "m", epoch: 7, topics: []string{"courier.scans", "shop.orders"}, owned: held{id: {0, 3}}},
		} {
			theirs := kmsg.NewPtrConsumerGroupHeartbeatRequest()
			theirs.Version = version
			if err := theirs.ReadFrom(q.body(nil)); err != nil {
				t.Fatalf("%+v: %v", q, err)
			}
			got := &consumerBeat{version: version, group: theirs.Group, member: theirs.MemberID, epoch: theirs.MemberEpoch, topics: theirs.SubscribedTopicNames}
			if theirs.InstanceID != nil {
				got.instance = *theirs.InstanceID
			}
			if theirs.RebalanceTimeoutMillis >= 0 {
				got.timeout = time.Duration(theirs.RebalanceTimeoutMillis) * time.Millisecond
			}
			if theirs.Topics != nil {
				got.owned = held{}
			}
			for _, of := range theirs.Topics {
				got.owned[of.TopicID] = of.Partitions
			}
			if !reflect.DeepEqual(got, q) || theirs.RackID != nil || theirs.SubscribedTopicRegex != nil || theirs.ServerAssignor != nil {
				t.Errorf("version %d: %+v is read as %+v", version, q, got)
			}
		}
	}
}

// beatAnswer1 is an answer written by another client's code.
func beatAnswer1(code int16, assigned map[topicID][]int32) []byte {
	a := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	message, member := "why", "m"
	a.Version, a.ErrorCode, a.ErrorMessage, a.MemberID, a.MemberEpoch, a.HeartbeatIntervalMillis = 1, code, &message, &member, 7, 5000
	if assigned != nil {
		a.Assignment = &kmsg.ConsumerGroupHeartbeatResponseAssignment{}
	}
	for id, partitions := range assigned {
		a.Assignment.Topics = append(a.Assignment.Topics, kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic{TopicID: id, Partitions: partitions})
	}
	return append([]byte{0}, a.AppendTo(nil)...)
}

func TestConsumerAnswers(t *testing.T) {
	for _, assigned := range []map[topicID][]int32{nil, {}, {{1}: {0, 3}, {2}: {7}}} {
		m, err := parseFlexible(&consumerBeat{}, beatAnswer1(110, assigned))
		if err != nil {
			t.Fatal(err)
		}
		want := &consumerAnswer{code: 110, message: "why", member: "m", epoch: 7, interval: 5 * time.Second, assigned: assigned}
		if got := m.(*consumerAnswer); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, expected %+v", got, want)
		}
	}
	m, err := parseFlexible(&consumerBeat{}, beatAnswer1(0, map[topicID][]int32{{1}: {5, 5, -1, 5}}))
	if err != nil || !slices.Equal(m.(*consumerAnswer).assigned[topicID{1}], []int32{5}) {
		t.Errorf("partitions that come twice, or are none: %+v, %v", m, err)
	}
	whole := beatAnswer1(0, map[topicID][]int32{{1}: {0}})
	for n := range len(whole) {
		if m, err := parseFlexible(&consumerBeat{}, whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are read as %+v", n, len(whole), m)
		}
	}
}

func TestCommitsWithEpochsAreThoseOfOtherClients(t *testing.T) {
	q := &epochCommit{Claim{"g", 7, "m", ""}, "courier.scans", map[int]Commit{3: {100, "topic-id=x"}, 4: {5, ""}}}
	theirs := kmsg.NewPtrOffsetCommitRequest()
	theirs.Version = epochCommitVersion
	if err := theirs.ReadFrom(q.body(nil)); err != nil || theirs.Group != "g" || theirs.Generation != 7 || theirs.MemberID != "m" || theirs.InstanceID != nil ||
		len(theirs.Topics) != 1 || theirs.Topics[0].Topic != "courier.scans" || len(theirs.Topics[0].Partitions) != 2 {
		t.Fatalf("%+v, %v", theirs, err)
	}
	for _, p := range theirs.Topics[0].Partitions {
		if want := q.commits[int(p.Partition)]; p.Offset != want.Offset || *p.Metadata != want.Metadata || p.LeaderEpoch != -1 {
			t.Errorf("%+v, expected %+v", p, want)
		}
	}
	a := theirs.ResponseKind().(*kmsg.OffsetCommitResponse)
	a.Topics = []kmsg.OffsetCommitResponseTopic{{Topic: "courier.scans", Partitions: []kmsg.OffsetCommitResponseTopicPartition{{Partition: 3, ErrorCode: 113}, {Partition: 4}}}}
	m, err := parseFlexible(q, append([]byte{0}, a.AppendTo(nil)...))
	if err != nil || !reflect.DeepEqual(m, &epochCommitAnswer{map[int]int16{3: 113, 4: 0}}) {
		t.Errorf("%+v, %v", m, err)
	}
}

// describedGroup is an answer written by another client's code.
func describedGroup() []byte {
	a := kmsg.NewPtrConsumerGroupDescribeResponse()
	g := kmsg.NewConsumerGroupDescribeResponseGroup()
	g.Group, g.State, g.AssignorName = "g", "Stable", "uniform"
	m := kmsg.NewConsumerGroupDescribeResponseGroupMember()
	m.MemberID, m.ClientID, m.ClientHost, m.SubscribedTopics = "m", "brine", "/10.0.0.7", []string{"a", "b"}
	m.Assignment.TopicPartitions = []kmsg.AssignmentTopicPartition{{TopicID: topicID{1}, Topic: "a", Partitions: []int32{0, 3}}}
	m.TargetAssignment.TopicPartitions = []kmsg.AssignmentTopicPartition{{TopicID: topicID{2}, Topic: "b", Partitions: []int32{9}}}
	g.Members = append(g.Members, m)
	a.Groups = append(a.Groups, g)
	return append([]byte{0}, a.AppendTo(nil)...)
}

func TestConsumerGroupsAreDescribed(t *testing.T) {
	theirs := kmsg.NewPtrConsumerGroupDescribeRequest()
	if err := theirs.ReadFrom((&describeConsumers{"g"}).body(nil)); err != nil || !slices.Equal(theirs.Groups, []string{"g"}) {
		t.Errorf("%+v, %v", theirs, err)
	}
	m, err := parseFlexible(&describeConsumers{}, describedGroup())
	want := &describedConsumers{members: []describedConsumer{{"m", "brine", "/10.0.0.7", []assignedTopic{{topicID{1}, "a", []int{0, 3}}}}}}
	if err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("%+v, %v", m, err)
	}
}

func FuzzConsumerAnswers(f *testing.F) {
	f.Add(beatAnswer1(0, map[topicID][]int32{{1}: {0, 3}}))
	f.Add(beatAnswer1(110, nil))
	f.Add(describedGroup())
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, q := range []flexible{&consumerBeat{}, &epochCommit{}, &describeConsumers{}} {
			m, err := parseFlexible(q, b)
			if (m == nil) == (err == nil) {
				t.Fatalf("%v and %v", m, err)
			}
			if a, ok := m.(*consumerAnswer); ok {
				n := 0
				for _, partitions := range a.assigned {
					n += len(partitions)
				}
				if 4*n > len(b) {
					t.Fatalf("%d partitions in %d bytes", n, len(b))
				}
			}
		}
	})
}

// An answer that repeats a topic with one partition each time takes no more than one that names it once.
func TestTopicThatAnAnswerNamesOftenIsReadInOneGo(t *testing.T) {
	const entries = 2000
	a := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	a.Version, a.Assignment = 1, &kmsg.ConsumerGroupHeartbeatResponseAssignment{}
	for p := range int32(entries) {
		a.Assignment.Topics = append(a.Assignment.Topics, kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic{TopicID: topicID{1}, Partitions: []int32{p}})
	}
	answer := append([]byte{0}, a.AppendTo(nil)...)
	allocated := testing.AllocsPerRun(1, func() {
		m, err := parseFlexible(&consumerBeat{}, answer)
		if err != nil || len(m.(*consumerAnswer).assigned[topicID{1}]) != entries {
			t.Fatalf("%v, %v", m, err)
		}
	})
	if allocated > entries/2 {
		t.Errorf("%v allocations for %d entries of one topic", allocated, entries)
	}
}
