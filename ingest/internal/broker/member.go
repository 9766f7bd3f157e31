package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// topicWatch is how often a member checks whether the topic has changed.
const topicWatch = 5 * time.Second

// Membership says which group to be a member of, and how.
type Membership struct {
	Group, Topic string
	InstanceID   string // makes the membership static: the group keeps our partitions while we are away, for SessionTimeout

	SessionTimeout   time.Duration // the broker gives our partitions away when no heartbeat came for that long
	RebalanceTimeout time.Duration // how long the group waits for its members at a rebalance
	Heartbeat        time.Duration
	CommitTimeout    time.Duration // of Commit, which must come through while a rebalance waits for us, or not at all
	LeaveTimeout     time.Duration

	Waits  func(since time.Time) // called when a join has long waited for others, and with zero when it ends
	Logger *slog.Logger
}

// Member is our membership of a consumer group, by the classic protocol: to join, wait until all members have; one of them
// assigns the partitions; heartbeats until the coordinator starts a rebalance. One goroutine at a time uses it.
type Member struct {
	Membership
	cluster *Cluster
	at      coordinator
	id      string // given by the coordinator; empty before
}

// Generation is the time between two rebalances, as far as it concerns us.
type Generation struct {
	ID         int32
	Topic      Topic
	Partitions []int          // ours
	Commits    map[int]Commit // of ours, where the group has committed anything

	member string
}

// Member makes a member, which joins nothing yet.
func (c *Cluster) Member(m Membership) *Member {
	return &Member{Membership: m, cluster: c, at: coordinator{Cluster: c, group: m.Group}}
}

// joinTries is how often a join is retried at once when the rebalance begins again in its middle.
const joinTries = 3

// Join takes part in a rebalance and returns its outcome.
func (m *Member) Join(ctx context.Context) (*Generation, error) {
	topic, err := m.cluster.Topic(ctx, m.Topic)
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
func (m *Member) rendezvous(ctx context.Context, topic Topic) (*Generation, error) {
	defer m.waitAloud()()
	balancer := kafka.RangeGroupBalancer{}
	answer, err := m.at.call(ctx, &joingroup.Request{
		GroupID: m.Group, MemberID: m.id, GroupInstanceID: m.InstanceID, ProtocolType: "consumer",
		SessionTimeoutMS: int32(m.SessionTimeout.Milliseconds()), RebalanceTimeoutMS: int32(m.RebalanceTimeout.Milliseconds()),
		Protocols: []joingroup.RequestProtocol{{Name: balancer.ProtocolName(), Metadata: subscription(m.Topic, []byte(topic.String()))}},
	}, joinVersion, m.RebalanceTimeout+m.cluster.timeout)
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
	}, syncVersion, m.RebalanceTimeout+m.cluster.timeout)
	if err != nil {
		return nil, err
	}
	synced := answer.(*syncgroup.Response)
	if err := m.at.failure(synced.ErrorCode); err != nil {
		return nil, err
	}
	g := &Generation{ID: joined.GenerationID, Topic: topic, member: m.id}
	if g.Partitions, err = appointed(synced.Assignments, m.Topic); err != nil {
		return nil, err
	}
	g.Commits, err = m.cluster.Commits(ctx, m.Group, m.Topic, g.Partitions)
	return g, err
}

// assign spreads the partitions over all members, as the leader, chosen by the coordinator. Of our own topic it assigns what
// the generation will watch for changes.
func (m *Member) assign(ctx context.Context, topic Topic, members []joingroup.ResponseMember,
	by kafka.GroupBalancer) ([]syncgroup.RequestAssignment, error) {
	states := map[string]Topic{m.Topic: topic}
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
			if states[name], err = m.cluster.Topic(ctx, name); err != nil && !errors.Is(err, ErrNoTopic) {
				return nil, err
			}
		}
	}
	var partitions []kafka.Partition
	for name, state := range states {
		for id := range state.Partitions {
			partitions = append(partitions, kafka.Partition{Topic: name, ID: id})
		}
	}
	var assignments []syncgroup.RequestAssignment
	for id, theirs := range by.AssignGroups(group, partitions) {
		assignments = append(assignments, syncgroup.RequestAssignment{MemberID: id, Assignment: appointment(theirs)})
	}
	return assignments, nil
}

// Attend runs work while heartbeats go out. The context that work gets ends when the partitions must be given back, for the reason
// that Attend returns. Heartbeats go on until work has returned, so that what it settles meanwhile can be committed.
func (m *Member) Attend(g *Generation, work func(revoked context.Context)) error {
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
func (m *Member) watchTopic(ctx context.Context, g *Generation, revoke context.CancelCauseFunc) {
	tick := time.NewTicker(topicWatch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now, err := m.cluster.Topic(ctx, m.Topic); err == nil && now != g.Topic {
			revoke(fmt.Errorf("topic %q has changed: from %v to %v", m.Topic, g.Topic, now))
			return
		}
	}
}

// Leave informs the group that we are leaving for good, which a static member never is.
func (m *Member) Leave() {
	if m.id == "" || m.InstanceID != "" {
		return
	}
	request := &leavegroup.Request{GroupID: m.Group, Members: []leavegroup.RequestMember{{MemberID: m.id}}}
	if _, err := m.at.call(context.Background(), request, leaveVersion, min(m.cluster.timeout, m.LeaveTimeout)); err != nil {
		m.Logger.Debug("leaving the group failed; it will notice", "group", m.Group, "error", err)
	}
}

// Commit commits for a generation.
func (m *Member) Commit(g *Generation, commits map[int]Commit) error {
	ctx, cancel := context.WithTimeout(context.Background(), m.CommitTimeout)
	defer cancel()
	return m.cluster.Commit(ctx, Claim{m.Group, int(g.ID), g.member, m.InstanceID}, m.Topic, commits)
}
