package embedded

import (
	"context"
	"net"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/internal/memnet"
)

const (
	groupName     = "brine.scans.rows"
	sessionTime   = 6 * time.Second
	rebalanceTime = 12 * time.Second
	waitTime      = 10 * time.Second
)

// member joins the group by hand, with a connection of its own.
type member struct {
	t      *testing.T
	client *kgo.Client
	id     string
}

func newMember(t *testing.T, name string, addrs []string, opts ...kgo.Opt) *member {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addrs...), kgo.ClientID(name)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return &member{t: t, client: client}
}

// join asks to join until it gets an answer, or the member is gone.
func (m *member) join() (*kmsg.JoinGroupResponse, error) {
	for {
		q := kmsg.NewPtrJoinGroupRequest()
		q.Group, q.MemberID, q.ProtocolType = groupName, m.id, "consumer"
		q.SessionTimeoutMillis, q.RebalanceTimeoutMillis = int32(sessionTime.Milliseconds()), int32(rebalanceTime.Milliseconds())
		q.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: (&kmsg.ConsumerMemberMetadata{Topics: []string{"courier.scans"}}).AppendTo(nil)}}
		resp, err := q.RequestWith(m.t.Context(), m.client)
		if err != nil {
			return nil, err
		}
		if first := m.id == ""; !first || resp.MemberID == "" {
			return resp, nil
		}
		m.id = resp.MemberID // ask again with the assigned name
	}
}

// sync assigns every member in the join answer an empty share, as the leader does.
func (m *member) sync(joined *kmsg.JoinGroupResponse) error {
	q := kmsg.NewPtrSyncGroupRequest()
	q.Group, q.MemberID, q.Generation = groupName, m.id, joined.Generation
	for _, other := range joined.Members {
		q.GroupAssignment = append(q.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: other.MemberID})
	}
	resp, err := q.RequestWith(m.t.Context(), m.client)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	return err
}

// enter joins and syncs, and returns the generation.
func (m *member) enter() (generation int32, err error) {
	joined, err := m.join()
	if err == nil {
		err = kerr.ErrorForCode(joined.ErrorCode)
	}
	if err != nil {
		return 0, err
	}
	return joined.Generation, m.sync(joined)
}

// beat sends heartbeats until ctx ends, and enters again at a rebalance.
func (m *member) beat(ctx context.Context, generation int32) error {
	for {
		q := kmsg.NewPtrHeartbeatRequest()
		q.Group, q.MemberID, q.Generation = groupName, m.id, generation
		resp, err := q.RequestWith(m.t.Context(), m.client)
		if err == nil && resp.ErrorCode != 0 {
			generation, err = m.enter()
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sessionTime / 6):
		}
	}
}

// ids returns the members that the cluster counts.
func ids(c *kfake.Cluster) (ids []string) {
	if info := c.GroupInfo(groupName); info != nil {
		for _, m := range info.Members {
			ids = append(ids, m.MemberID)
		}
	}
	return ids
}

// TestMemberKilledWhileItJoinsIsForgotten: a process that is killed while its join request waits soon has no share, and the living member
// keeps its own. kfake alone keeps the dead one forever in about half of these attempts.
func TestMemberKilledWhileItJoinsIsForgotten(t *testing.T) {
	for try := range 8 {
		t.Run(strconv.Itoa(try), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := memnet.New(1)
				cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ListenFn(func(_, _ string) (net.Listener, error) {
					return network.NewPlace("broker").Listen("tcp", "127.0.0.1:0")
				}))
				if err != nil {
					t.Fatal(err)
				}
				defer cluster.Close()
				aside := newMember(t, "aside", cluster.ListenAddrs(), kgo.Dialer(network.NewAside("aside").Dial))
				defer aside.client.Close()
				members := WatchMembers(cluster, aside.client, waitTime)
				lives := newMember(t, "lives", cluster.ListenAddrs(), kgo.Dialer(network.NewPlace("lives").Dial))
				defer lives.client.Close()
				dies := newMember(t, "dies", cluster.ListenAddrs(), kgo.Dialer(network.NewPlace("dies").Dial))
				generation := killedWhileJoining(t, cluster, lives, dies)

				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				beaten := make(chan error)
				go func() { beaten <- lives.beat(ctx, generation) }()
				for ctx.Err() == nil {
					members.Expire(ctx)
					time.Sleep(lookEvery)
				}
				if err := <-beaten; err != nil {
					t.Error(err)
				}
				if got := ids(cluster); len(got) != 1 || got[0] != lives.id {
					t.Errorf("members %q, expected %q alone", got, lives.id)
				}
			})
		})
	}
}

// killedWhileJoining puts one member into the group, and kills another that waits for the first to rejoin. It returns the first one's
// generation.
func killedWhileJoining(t *testing.T, c *kfake.Cluster, lives, dies *member) int32 {
	t.Helper()
	generation, err := lives.enter()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { _, err := dies.join(); ended <- err }()
	for len(ids(c)) < 2 {
		time.Sleep(10 * time.Millisecond)
	}
	dies.client.Close()
	if err := <-ended; err == nil {
		t.Fatal("the one that was to die while it joined has joined")
	}
	return generation
}

// TestBrokerForgets does the same with a broker on a real network, by itself.
func TestBrokerForgets(t *testing.T) {
	broker, err := Start(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	lives, dies := newMember(t, "lives", broker.ListenAddrs()), newMember(t, "dies", broker.ListenAddrs())
	defer lives.client.Close()
	generation := killedWhileJoining(t, broker.Cluster, lives, dies)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	beating, enough := context.WithCancel(ctx)
	beaten := make(chan error)
	go func() { beaten <- lives.beat(beating, generation) }()
	if _, err := broker.WaitGroupInfo(ctx, groupName, func(g *kfake.GroupInfo) bool {
		return g.State == stable && len(g.Members) == 1 && g.Members[0].ClientID == "lives" && g.Epoch > generation
	}); err != nil {
		t.Errorf("%v: members %q", err, ids(broker.Cluster))
	}
	enough()
	if err := <-beaten; err != nil {
		t.Error(err)
	}
}

// TestARebalanceThatDoesNotEndIsNoticed: a rebalance counts as endless if it lasts longer than its members may take, in one epoch.
// Successive rebalances and a stable group do not count.
func TestARebalanceThatDoesNotEndIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p phase
		const preparing, limit = "PreparingRebalance", rebalanceTime + 2*waitTime
		const long = limit + time.Second
		for _, c := range []struct {
			after time.Duration
			state string
			epoch int32
			want  bool
		}{
			{0, stable, 1, false}, {long, stable, 1, false},
			{1, preparing, 1, false}, {long, "CompletingRebalance", 2, false}, {long / 2, preparing, 2, false}, {long / 2, preparing, 2, true}, {1, preparing, 3, false},
			{1, stable, 3, false}, {1, preparing, 3, false}, {long, preparing, 3, true},
		} {
			time.Sleep(c.after)
			p.see(&kfake.GroupInfo{State: c.state, Epoch: c.epoch})
			if got := p.unrest() > limit; got != c.want {
				t.Errorf("%s in epoch %d: %v", c.state, c.epoch, got)
			}
		}
	})
}
