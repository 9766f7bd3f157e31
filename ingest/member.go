package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/joingroup"
	"github.com/segmentio/kafka-go/protocol/leavegroup"
	"github.com/segmentio/kafka-go/protocol/syncgroup"
)

// The last versions of the group's requests that are not flexible; the first ones with static members.
const (
	joinVersion, syncVersion, beatVersion, leaveVersion = 5, 3, 3, 3
)

// topicWatch is how often a member looks whether the topic has changed.
const topicWatch = 5 * time.Second

// member is our membership of the consumer group, by the classic protocol: to join, wait until all members have; one of them
// assigns the partitions; heartbeats until the coordinator says that it all begins again. One goroutine at a time uses it.
//
// With an InstanceID the membership is static: the group holds our partitions for us while we are away, for SessionTimeout.
type member struct {
	*runner
	at    coordinator
	id    string                // given by the coordinator; empty before
	waits func(since time.Time) // called when a join waits for others, and with zero when it ends
}

// generation is the time between two rebalances, as far as it concerns us.
type generation struct {
	id         int32
	member     string
	topic      topicState
	partitions []int          // ours
	committed  map[int]commit // of ours, where the group has committed anything
}

func newMember(r *runner) *member {
	return &member{runner: r, at: coordinator{cluster: r.cluster, group: r.Group}, waits: func(time.Time) {}}
}

// joinTries is how often a join is made again at once when the rebalance begins again in its middle.
const joinTries = 3

// join takes part in a rebalance and gives its outcome.
func (m *member) join(ctx context.Context) (*generation, error) {
	topic, err := m.cluster.describeTopic(ctx, m.Topic)
	if err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		g, err := m.rendezvous(ctx, topic)
		switch {
		case tries > joinTries:
			return g, err
		case errors.Is(err, kafka.UnknownMemberId) && m.id != "": // it has not heard from us for too long
			m.id = ""
		case errors.Is(err, kafka.RebalanceInProgress), errors.Is(err, kafka.MemberIDRequired):
		default:
			return g, err
		}
	}
}

// rendezvous is one attempt to meet the other members.
func (m *member) rendezvous(ctx context.Context, topic topicState) (*generation, error) {
	defer m.waitAloud()()
	balancer := kafka.RangeGroupBalancer{}
	answer, err := m.at.call(ctx, &joingroup.Request{
		GroupID: m.Group, MemberID: m.id, GroupInstanceID: m.InstanceID, ProtocolType: "consumer",
		SessionTimeoutMS: int32(m.SessionTimeout.Milliseconds()), RebalanceTimeoutMS: int32(m.RebalanceTimeout.Milliseconds()),
		Protocols: []joingroup.RequestProtocol{{Name: balancer.ProtocolName(), Metadata: subscription(m.Topic, []byte(topic.String()))}},
	}, joinVersion, m.RebalanceTimeout+m.RequestTimeout)
	if err != nil {
		return nil, err
	}
	joined := answer.(*joingroup.Response)
	if joined.MemberID != "" {
		m.id = joined.MemberID
	}
	if err := m.at.failure(joined.ErrorCode); err != nil {
		return nil, err
	}
	var assignments []syncgroup.RequestAssignment
	if joined.LeaderID == m.id {
		if assignments, err = m.assign(ctx, topic, joined.Members, balancer); err != nil {
			return nil, err
		}
	}
	answer, err = m.at.call(ctx, &syncgroup.Request{
		GroupID: m.Group, GenerationID: joined.GenerationID, MemberID: m.id, GroupInstanceID: m.InstanceID, Assignments: assignments,
	}, syncVersion, m.RebalanceTimeout+m.RequestTimeout)
	if err != nil {
		return nil, err
	}
	synced := answer.(*syncgroup.Response)
	if err := m.at.failure(synced.ErrorCode); err != nil {
		return nil, err
	}
	g := &generation{id: joined.GenerationID, member: m.id, topic: topic}
	if g.partitions, err = appointed(synced.Assignments, m.Topic); err != nil {
		return nil, err
	}
	g.committed, err = m.cluster.committed(ctx, m.Group, m.Topic, g.partitions)
	return g, err
}

// assign spreads the partitions over all members, as the one whom the coordinator has chosen for it. Of our own topic it assigns what
// the generation will watch for changes.
func (m *member) assign(ctx context.Context, topic topicState, members []joingroup.ResponseMember, by kafka.GroupBalancer) ([]syncgroup.RequestAssignment, error) {
	states := map[string]topicState{m.Topic: topic}
	group := make([]kafka.GroupMember, len(members))
	for i, other := range members {
		topics, err := subscribed(other.Metadata)
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", other.MemberID, err)
		}
		group[i] = kafka.GroupMember{ID: other.MemberID, Topics: topics}
		for _, name := range topics {
			if _, known := states[name]; known {
				continue
			}
			if states[name], err = m.cluster.describeTopic(ctx, name); err != nil && !errors.Is(err, ErrNoTopic) {
				return nil, err
			}
		}
	}
	var partitions []kafka.Partition
	for name, state := range states {
		for id := range state.partitions {
			partitions = append(partitions, kafka.Partition{Topic: name, ID: id})
		}
	}
	var assignments []syncgroup.RequestAssignment
	for id, theirs := range by.AssignGroups(group, partitions) {
		assignments = append(assignments, syncgroup.RequestAssignment{MemberID: id, Assignment: appointment(theirs)})
	}
	return assignments, nil
}

// attend runs work while heartbeats go out. The context it gives to work ends when the partitions must be given back, for the reason
// that attend returns. Heartbeats go on until work has returned, so that what it settles meanwhile can be committed.
func (m *member) attend(g *generation, work func(revoked context.Context)) error {
	alive, done := context.WithCancel(context.Background())
	revoked, revoke := context.WithCancelCause(context.Background())
	var attendants sync.WaitGroup
	attendants.Go(func() { m.sendHeartbeats(alive, g, revoke) })
	attendants.Go(func() { m.watchTopic(alive, g, revoke) })
	work(revoked)
	done()
	attendants.Wait()
	revoke(nil)
	return context.Cause(revoked)
}

// watchTopic calls revoke when the topic has other partitions, or is another topic, than at the generation's begin.
func (m *member) watchTopic(ctx context.Context, g *generation, revoke context.CancelCauseFunc) {
	tick := time.NewTicker(topicWatch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now, err := m.cluster.describeTopic(ctx, m.Topic); err == nil && now != g.topic {
			revoke(fmt.Errorf("topic %q has changed: from %v to %v", m.Topic, g.topic, now))
			return
		}
	}
}

// leave tells the group that we are gone for good, which a static member never is.
func (m *member) leave() {
	if m.id == "" || m.InstanceID != "" {
		return
	}
	request := &leavegroup.Request{GroupID: m.Group, Members: []leavegroup.RequestMember{{MemberID: m.id}}}
	if _, err := m.at.call(context.Background(), request, leaveVersion, min(m.RequestTimeout, m.StopTimeout)); err != nil {
		m.Logger.Debug("leaving the group failed; it will notice", "group", m.Group, "error", err)
	}
}
