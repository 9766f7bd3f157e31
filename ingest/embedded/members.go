package embedded

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Members removes members from a cluster's groups once they have been silent for longer than a broker would wait.
//
// It also removes all members of a rebalance that does not end. kfake may count one joining member too few when members time out and return
// while the group changes its state (seen once in thousands of simulated runs: three members tried to join for nine minutes, and each retry
// put off the end for the others). They rejoin.
type Members struct {
	cluster  *kfake.Cluster
	by       Requester
	callTime time.Duration

	mu     sync.Mutex
	groups map[string]*group
}

// Requester sends a request to the broker responsible for it. A *kgo.Client is one.
type Requester interface {
	Request(context.Context, kmsg.Request) (kmsg.Response, error)
}

// group is what is known of a group's members: when each was last heard of, and the longest timeouts that any of them asked for.
type group struct {
	session, rebalance time.Duration
	heard              map[string]time.Time
	phase              phase
}

// phase is since when a group has been stable, or between two generations, in one epoch.
type phase struct {
	epoch  int32
	stable bool
	since  time.Time
}

const (
	stable = "Stable"
	slack  = time.Second // beyond a session, which kfake normally ends itself
)

// WatchMembers starts noting what members ask for. callTime is how long a member may wait for an answer, beyond the time of a rebalance,
// before it asks again. Members are removed with a leave request.
func WatchMembers(c *kfake.Cluster, by Requester, callTime time.Duration) *Members {
	m := &Members{cluster: c, by: by, callTime: callTime, groups: map[string]*group{}}
	see := func(key kmsg.Key, f func(kmsg.Request)) {
		c.ControlKey(key.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
			m.mu.Lock()
			defer m.mu.Unlock()
			f(q)
			return nil, nil, false
		})
	}
	see(kmsg.JoinGroup, func(q kmsg.Request) { m.join(q.(*kmsg.JoinGroupRequest)) })
	see(kmsg.SyncGroup, func(q kmsg.Request) { m.hear(q.(*kmsg.SyncGroupRequest).Group, q.(*kmsg.SyncGroupRequest).MemberID) })
	see(kmsg.Heartbeat, func(q kmsg.Request) { m.hear(q.(*kmsg.HeartbeatRequest).Group, q.(*kmsg.HeartbeatRequest).MemberID) })
	return m
}

func (m *Members) join(q *kmsg.JoinGroupRequest) {
	g := m.groups[q.Group]
	if g == nil {
		g = &group{heard: map[string]time.Time{}}
		m.groups[q.Group] = g
	}
	g.session = max(g.session, time.Duration(q.SessionTimeoutMillis)*time.Millisecond)
	g.rebalance = max(g.rebalance, time.Duration(q.RebalanceTimeoutMillis)*time.Millisecond)
	g.heard[q.MemberID] = time.Now()
}

func (m *Members) hear(group, member string) {
	if g := m.groups[group]; g != nil {
		g.heard[member] = time.Now()
	}
}

// Expire removes silent members from all groups, and all members from a rebalance that does not end.
func (m *Members) Expire(ctx context.Context) {
	m.mu.Lock()
	names := make([]string, 0, len(m.groups))
	for name := range m.groups {
		names = append(names, name)
	}
	m.mu.Unlock()
	slices.Sort(names) // a simulation must run the same way each time
	for _, name := range names {
		if gone := m.gone(m.cluster.GroupInfo(name), name); len(gone) > 0 {
			m.leave(ctx, name, gone)
		}
	}
}

// gone returns the members to remove from a group.
func (m *Members) gone(info *kfake.GroupInfo, name string) (gone []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if info == nil {
		return nil
	}
	g := m.groups[name]
	limit := g.session + slack
	if info.State != stable {
		limit += g.rebalance + m.callTime // a member that waits for the others asks again once its call times out
	}
	g.phase.see(info)
	endless := g.phase.unrest() > g.rebalance+2*m.callTime
	heard := map[string]time.Time{}
	for _, member := range info.Members {
		last, known := g.heard[member.MemberID]
		if !known {
			last = time.Now() // its name is in no request until it has the answer
		}
		heard[member.MemberID] = last
		silent := time.Since(last)
		if g.phase.stable {
			silent = min(silent, time.Since(g.phase.since)) // one that has waited long for the others is about to sync
		}
		if endless || silent > limit {
			gone = append(gone, member.MemberID)
		}
	}
	g.heard = heard
	return gone
}

// see notes the state of a group.
func (p *phase) see(info *kfake.GroupInfo) {
	now := phase{epoch: info.Epoch, stable: info.State == stable, since: time.Now()}
	if p.since.IsZero() || p.epoch != now.epoch || p.stable != now.stable {
		*p = now
	}
}

// unrest returns how long a rebalance has lasted, or 0 if there is none.
func (p *phase) unrest() time.Duration {
	if p.stable {
		return 0
	}
	return time.Since(p.since)
}

// leave removes members from a group as if they had left it. Expire retries soon if the request failed.
func (m *Members) leave(ctx context.Context, group string, gone []string) {
	q := kmsg.NewPtrLeaveGroupRequest()
	q.Group = group
	for _, id := range gone {
		q.Members = append(q.Members, kmsg.LeaveGroupRequestMember{MemberID: id})
	}
	_, _ = m.by.Request(ctx, q)
}

// Bury removes a process that is known to have ended while it was joining a group, by its client id, without waiting for the end of a
// session that it does not have.
func (m *Members) Bury(ctx context.Context, group, client string) {
	info := m.cluster.GroupInfo(group)
	if info == nil || info.State == stable {
		return
	}
	for _, member := range info.Members {
		if member.ClientID == client {
			m.leave(ctx, group, []string{member.MemberID})
		}
	}
}
