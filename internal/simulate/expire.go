package simulate

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The fake's coordinator never expires a member whose connection ended while its request to join was parked, and puts off the
// end of a rebalance with every request to join: so those who are left may wait for such a member for ever. A real one ends the
// rebalance in time, and starts a member's session anew with the answer to its join, whether or not that arrives. expire does
// that in its place.
//
// And it may count one joining member too few, when members time out and come again while it changes its state (seen once in thousands of
// runs: all three of seed 217 asked to join for nine minutes, each anew after rebalanceTime + requestTime, which puts off the end for the
// others). expire takes all out of a rebalance that lasts so long, and they come anew.

// unrest is since when a group has been between two generations.
type unrest struct {
	epoch int32
	since time.Time
}

// lasts notes what state a group is in, and reports whether a rebalance has lasted longer than any should.
func (u *unrest) lasts(info *kfake.GroupInfo) bool {
	if info.State == stable || info.Epoch != u.epoch || u.since.IsZero() {
		*u = unrest{epoch: info.Epoch, since: time.Now()}
	}
	return time.Since(u.since) > rebalanceTime+2*requestTime
}

// hear notes that a member has asked for something.
func (l *Ledger) hear(member string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard[member] = time.Now()
}

// silent reports whether a member has not been heard of for so long.
func (l *Ledger) silent(member string, limit time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.heard[member]) > limit
}

// watchMembers has the ledger hear of members.
func (b *brokers) watchMembers(see func(kmsg.Key, func(kmsg.Request))) {
	see(kmsg.JoinGroup, func(q kmsg.Request) { b.ledger.hear(q.(*kmsg.JoinGroupRequest).MemberID) })
	see(kmsg.SyncGroup, func(q kmsg.Request) { b.ledger.hear(q.(*kmsg.SyncGroupRequest).MemberID) })
	see(kmsg.Heartbeat, func(q kmsg.Request) { b.ledger.hear(q.(*kmsg.HeartbeatRequest).MemberID) })
}

// expire takes the silent members out of a group, and all members out of a rebalance that does not end.
func (b *brokers) expire(ctx context.Context, group string) {
	limit := sessionTime + time.Second
	b.remove(ctx, group, func(info *kfake.GroupInfo, m *kfake.GroupMember) bool {
		switch {
		case info.State == stable:
			return b.ledger.silent(m.MemberID, limit)
		case b.unrest.lasts(info):
			return true
		}
		return b.ledger.silent(m.MemberID, limit+rebalanceTime+requestTime) // one that waits for the others asks again once its call times out
	})
}

// bury takes a process that was killed out of a group that it was just joining; else its session ends by itself.
func (b *brokers) bury(ctx context.Context, group, client string) {
	b.remove(ctx, group, func(info *kfake.GroupInfo, m *kfake.GroupMember) bool {
		return info.State != stable && m.ClientID == client
	})
}

const stable = "Stable"

// remove takes members out of a group, as if they left it.
func (b *brokers) remove(ctx context.Context, group string, which func(*kfake.GroupInfo, *kfake.GroupMember) bool) {
	info := b.GroupInfo(group)
	if info == nil {
		return
	}
	for i := range info.Members {
		m := &info.Members[i]
		if !which(info, m) {
			continue
		}
		q := kmsg.NewPtrLeaveGroupRequest()
		q.Group = group
		q.Members = []kmsg.LeaveGroupRequestMember{{MemberID: m.MemberID}}
		_, _ = q.RequestWith(ctx, b.producer) // expire tries again a moment later
	}
}
