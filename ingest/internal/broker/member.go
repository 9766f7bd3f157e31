package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/joingroup"
	"github.com/segmentio/kafka-go/protocol/leavegroup"
	"github.com/segmentio/kafka-go/protocol/syncgroup"
)

// The last versions of the group's requests that are not flexible. They are also the first with static members.
const (
	joinVersion, syncVersion, beatVersion, leaveVersion = 5, 3, 3, 3
)

// Membership says which group to join, and how.
type Membership struct {
	Group      string
	Topics     func(context.Context) (map[string]Topic, error) // what to read, as it is now: called at each join, and every Watch after it
	Watch      time.Duration                                   // default 5 s
	InstanceID string                                          // makes the membership static: we keep our partitions for SessionTimeout

	SessionTimeout   time.Duration // without a heartbeat for that long, the broker gives our partitions away; a Consumer: we give them up
	RebalanceTimeout time.Duration // how long the group waits for its members at a rebalance
	Heartbeat        time.Duration
	Place            Place              // taken over from a member that has stopped; zero: a new one
	Keep             func(p Place) bool // called instead of leaving: reports whether someone takes over our place; if not, we leave
	Resigns          func() bool        // called when a static member leaves: reports whether it does so for good

	CommitTimeout time.Duration // of Commit, which must get through while a rebalance waits for us, or not at all
	LeaveTimeout  time.Duration

	Waits  func(since time.Time) // called when a join has waited for others for long, and with zero when that ends
	Lost   func(why error)       // of the classic protocol: called as soon as the group reports that it no longer counts us as a member
	Logger *slog.Logger
}

// Place is a member's place in a group, which the coordinator keeps until the session ends. A member that takes it over has the same
// partitions, and no other member notices.
type Place struct {
	id    string
	epoch int32 // by the consumer protocol
}

// watchEvery returns how often to ask for the topics.
func (m *Membership) watchEvery() time.Duration { return cmp.Or(m.Watch, 5*time.Second) }

// Member is our membership of a consumer group by the classic protocol. We join and wait until all members have; one of them assigns the
// partitions; then we send heartbeats until the coordinator starts a rebalance. Only one goroutine at a time may use it.
type Member struct {
	Membership
	cluster *Cluster
	at      coordinator
	id      string // assigned by the coordinator; empty before
}

// Generation is the time between two rebalances, from our point of view.
type Generation struct {
	ID     int32
	Member string           // our id
	Topics map[string]Share // topics that we subscribe to, even those of which we own nothing

	lost func(why error) // ends the generation, which the group has ended for us; set by Attend
}

// Partitions returns the number of partitions of the topics, whoever owns them.
func (g *Generation) Partitions() (n int) {
	for _, share := range g.Topics {
		n += share.Topic.Partitions
	}
	return n
}

// Share is our part of a topic.
type Share struct {
	Topic      Topic // at the start of the generation
	Partitions []int
	Commits    map[int]Commit // of Partitions, where the group has committed anything
}

// Member returns a member that has not joined yet.
func (c *Cluster) Member(m Membership) *Member {
	return &Member{Membership: m, cluster: c, at: coordinator{Cluster: c, group: m.Group}, id: m.Place.id}
}

// joinTries is how often a join is retried at once if another rebalance begins during it.
const joinTries = 3

// Join takes part in a rebalance and returns its outcome.
func (m *Member) Join(ctx context.Context) (*Generation, error) {
	topics, err := m.Topics(ctx)
	if err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		g, err := m.rendezvous(ctx, topics)
		switch {
		case tries > joinTries:
			return g, err
		case errors.Is(err, kafka.UnknownMemberId) && m.id != "": // the group has not heard from us for too long
			m.id = ""
		case errors.Is(err, kafka.RebalanceInProgress), errors.Is(err, kafka.MemberIDRequired):
		default:
			return g, err
		}
	}
}

// rendezvous is one attempt to meet the other members.
func (m *Member) rendezvous(ctx context.Context, topics map[string]Topic) (*Generation, error) {
	defer m.waitAloud()()
	answer, err := m.at.call(ctx, &joingroup.Request{
		GroupID: m.Group, MemberID: m.id, GroupInstanceID: m.InstanceID, ProtocolType: "consumer",
		SessionTimeoutMS: int32(m.SessionTimeout.Milliseconds()), RebalanceTimeoutMS: int32(m.RebalanceTimeout.Milliseconds()),
		Protocols: []joingroup.RequestProtocol{{Name: protocolName, Metadata: subscription(topics)}},
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
		if assignments, err = m.assign(ctx, topics, joined.Members); err != nil {
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
	ours, err := appointed(synced.Assignments)
	if err != nil {
		return nil, err
	}
	g := &Generation{ID: joined.GenerationID, Member: m.id, Topics: map[string]Share{}}
	for name, topic := range topics { // only these: what an earlier subscription of ours was assigned is no longer read
		share := Share{Topic: topic, Partitions: ours[name]}
		if share.Commits, err = m.cluster.Commits(ctx, m.Group, name, share.Partitions); err != nil {
			return nil, fmt.Errorf("topic %q: %w", name, err)
		}
		g.Topics[name] = share
	}
	return g, nil
}

// protocolName is what the members of a group must agree on. Only the leader assigns, so different versions may do it differently.
const protocolName = "range"

// assign distributes the partitions over all members, as the leader that the coordinator has chosen. For our own topics it uses the state
// that the generation will watch for changes. For topics that only others read, or of which others know more partitions, it believes them:
// our broker may be behind, and nobody would ask again.
func (m *Member) assign(ctx context.Context, topics map[string]Topic, members []joingroup.ResponseMember) (
	[]syncgroup.RequestAssignment, error) {
	partitions := map[string]int{}
	for name, t := range topics {
		partitions[name] = t.Partitions
	}
	subscribers := map[string][]string{}
	var others []string
	for _, member := range members {
		wants, err := subscribed(member.Metadata)
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", member.MemberID, err)
		}
		for name, knows := range wants {
			if _, asked := partitions[name]; !asked {
				others = append(others, name)
			}
			partitions[name] = max(partitions[name], knows)
			subscribers[name] = append(subscribers[name], member.MemberID)
		}
	}
	if err := m.lookUp(ctx, others, partitions); err != nil {
		return nil, err
	}
	var assignments []syncgroup.RequestAssignment
	for id, theirs := range spread(partitions, subscribers) {
		assignments = append(assignments, syncgroup.RequestAssignment{MemberID: id, Assignment: appointment(theirs)})
	}
	return assignments, nil
}

// lookUp raises the partitions of topics to the numbers that the brokers report.
func (m *Member) lookUp(ctx context.Context, topics []string, partitions map[string]int) error {
	if len(topics) == 0 {
		return nil
	}
	found, err := m.cluster.describe(ctx, topics)
	if err != nil {
		return err
	}
	for _, name := range topics {
		if t := found[name]; t.err != nil && !NoTopic(t.err) && partitions[name] == 0 {
			return fmt.Errorf("topic %q: %w", name, t.err)
		}
		partitions[name] = max(partitions[name], found[name].state.Partitions)
	}
	return nil
}

// spread assigns each topic's partitions to its subscribers in ranges, with one extra for the first ones if they do not divide evenly, as
// Kafka's own range assignor does. Each topic starts with the member after the last that got an extra one, so that many topics with few
// partitions do not all go to the same members.
func spread(partitions map[string]int, subscribers map[string][]string) map[string]map[string][]int {
	out, turn := map[string]map[string][]int{}, 0
	for _, name := range slices.Sorted(maps.Keys(subscribers)) {
		members, n := slices.Sorted(slices.Values(subscribers[name])), partitions[name]
		each, more, next := n/len(members), n%len(members), 0
		for i := range members {
			id, end := members[(i+turn)%len(members)], next+each
			if i < more {
				end++
			}
			if out[id] == nil {
				out[id] = map[string][]int{}
			}
			for ; next < end; next++ {
				out[id][name] = append(out[id][name], next)
			}
		}
		turn += more
	}
	return out
}

// Attend runs work while it sends heartbeats. The context of work ends when the partitions must be given up, for the reason that Attend
// returns. Heartbeats go on until work has returned, so that what it settles meanwhile can be committed.
func (m *Member) Attend(g *Generation, work func(revoked context.Context)) error {
	alive, done := context.WithCancel(context.Background())
	revoked, revoke := context.WithCancelCause(context.Background())
	g.lost = func(why error) {
		m.Lost(why)
		revoke(why)
	}
	var attendants sync.WaitGroup
	attendants.Go(func() { m.sendHeartbeats(alive, g, revoke) })
	attendants.Go(func() { m.watchTopics(alive, g, revoke) })
	work(revoked)
	done()
	attendants.Wait()
	revoke(nil)
	return context.Cause(revoked)
}

// watchTopics calls revoke when the topics differ from those at the start of the generation: others, other partitions, or a recreated topic
// of the same name.
func (m *Member) watchTopics(ctx context.Context, g *Generation, revoke context.CancelCauseFunc) {
	tick := time.NewTicker(m.watchEvery())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now, err := m.Topics(ctx); err == nil {
			if change := g.changed(now); change != "" {
				revoke(errors.New(change))
				return
			}
		}
	}
}

// changed describes how the topics differ from those of the generation; empty if they do not.
func (g *Generation) changed(now map[string]Topic) string {
	var changes []string
	for name, topic := range now {
		switch then, known := g.Topics[name]; {
		case !known:
			changes = append(changes, fmt.Sprintf("topic %q is new: %v", name, topic))
		case then.Topic != topic:
			changes = append(changes, fmt.Sprintf("topic %q has changed: from %v to %v", name, then.Topic, topic))
		}
	}
	for name := range g.Topics {
		if _, there := now[name]; !there {
			changes = append(changes, fmt.Sprintf("topic %q is gone", name))
		}
	}
	slices.Sort(changes)
	return strings.Join(changes, "; ")
}

// returns reports whether we are a static member that leaves only to return within the session.
func (m *Membership) returns() bool { return m.InstanceID != "" && !m.Resigns() }

// Leave reports to the group that we leave for good. A static member that returns does not, nor does one whose place someone takes over.
func (m *Member) Leave() {
	if m.id == "" || m.Keep(Place{id: m.id}) || m.returns() {
		return
	}
	us := leavegroup.RequestMember{MemberID: m.id, GroupInstanceID: m.InstanceID}
	request := &leavegroup.Request{GroupID: m.Group, Members: []leavegroup.RequestMember{us}}
	if _, err := m.at.call(context.Background(), request, leaveVersion, min(m.cluster.timeout, m.LeaveTimeout)); err != nil {
		m.Logger.Debug("leaving the group failed; the group will notice after the session timeout", "group", m.Group, "error", err)
	}
}

// GiveUp leaves a group that m never joined, in the place that it was given, unless someone takes over that place.
func (c *Cluster) GiveUp(m Membership) {
	if m.Place.epoch == 0 {
		c.Member(m).Leave()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), min(c.timeout, m.LeaveTimeout))
	defer cancel()
	_ = c.LearnVersions(ctx) // if that fails, we may have learnt them before
	if k, err := c.Consumer(m); err == nil {
		k.leave()
	}
}

// Commit commits offsets of one topic for a generation, during its Attend.
func (m *Member) Commit(g *Generation, topic string, commits map[int]Commit) error {
	ctx, cancel := context.WithTimeout(context.Background(), m.CommitTimeout)
	defer cancel()
	err := m.cluster.Commit(ctx, Claim{m.Group, int(g.ID), g.Member, m.InstanceID}, topic, commits)
	if expelled(err) {
		g.lost(err)
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// expelled reports whether an error means that a generation has ended for us: the group gives its partitions to others, or has done so.
func expelled(err error) bool {
	return errors.Is(err, kafka.UnknownMemberId) || errors.Is(err, kafka.IllegalGeneration) || errors.Is(err, kafka.FencedInstanceID)
}
