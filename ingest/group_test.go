package ingest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
)

func TestMissingTopicIsReportedBeforeAnythingStarts(t *testing.T) {
	b := newBroker(t, 1)
	o := b.options(newStore())
	o.Topic = "courier.scand"
	err := Run(t.Context(), o)
	if !errors.Is(err, ErrNoTopic) {
		t.Fatalf("error %v, expected %v", err, ErrNoTopic)
	}
	if b.GroupInfo(group) != nil || b.TopicInfo("courier.scand.dead") != nil || b.TopicInfo("courier.scand") != nil {
		t.Error("something was made for a topic that is not there")
	}
}

// TestMissingTopicIsAwaited: a loop that should wait reports what is missing, and reads the topic once it exists.
func TestMissingTopicIsAwaited(t *testing.T) {
	b := newBroker(t, 1)
	s := newStore()
	o := b.options(s)
	o.Topic = "courier.late"
	asked, look := make(chan error), make(chan struct{})
	o.AwaitTopic = func(_ context.Context, missing error) error {
		asked <- missing
		<-look
		return nil
	}
	l := start(t, o)
	if err := <-asked; !errors.Is(err, ErrNoTopic) {
		t.Fatalf("asked about %v", err)
	}
	if got := l.Status().Problems(time.Now(), time.Hour); len(got) != 1 || !strings.Contains(got[0], `topic "courier.late": no such topic`) {
		t.Errorf("while the topic is missing the problems are %q", got)
	}
	made := kmsg.NewPtrCreateTopicsRequest()
	made.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "courier.late", NumPartitions: 1, ReplicationFactor: 1}}
	if _, err := made.RequestWith(t.Context(), b.client); err != nil {
		t.Fatal(err)
	}
	close(look)
	eventually(t, "a member", func() bool { return l.Status().Joined })
	if got := l.Status(); got.NoTopic || len(got.Problems(time.Now(), time.Hour)) > 0 {
		t.Errorf("once it is there: %+v", got)
	}
	l.stop()
}

func TestUnreachableBrokerIsReported(t *testing.T) {
	b := newBroker(t, 1)
	o := b.options(newStore())
	o.RequestTimeout = 100 * time.Millisecond
	o.Kafka.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }
	if err := Run(t.Context(), o); !errors.Is(err, ErrUnreachable) {
		t.Fatalf("error %v, expected %v", err, ErrUnreachable)
	}
}

// A broker that dies during startup may cut off any of its requests: startup repeats them, and finally reports that no broker can be
// reached.
func TestStartIsMadeAgainWhenItFails(t *testing.T) {
	for _, c := range []struct {
		key kmsg.Key
		err *kerr.Error // nil: the connection is cut
	}{
		{kmsg.ApiVersions, nil}, {kmsg.Metadata, nil}, {kmsg.OffsetFetch, nil}, {kmsg.CreateTopics, nil},
		{kmsg.OffsetFetch, kerr.NotCoordinator}, {kmsg.OffsetFetch, kerr.CoordinatorLoadInProgress},
	} {
		t.Run(fmt.Sprint(c.key.Name(), c.err), func(t *testing.T) {
			b := newBroker(t, 1)
			b.produce(10, 0)
			var left atomic.Int64
			if c.err != nil {
				b.Fault(kfake.Fault{Keys: []kmsg.Key{c.key}, Err: c.err, Count: -1, When: func(kmsg.Request) bool { return left.Add(-1) >= 0 }})
			} else {
				b.ControlKey(c.key.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
					b.KeepControl()
					cut := left.Add(-1) >= 0
					return nil, errors.New("cut"), cut
				})
			}
			left.Store(3)
			s := newStore()
			l := start(t, b.options(s))
			eventually(t, "written", func() bool { return s.holds(0, 10) })
			l.stop()
			if left.Load() > 0 {
				t.Errorf("%d of 3 failures were not felt", left.Load())
			}
			left.Store(1 << 40)
			o := b.options(newStore())
			o.DeadLetterTopic, o.RequestTimeout = "courier.scans.others", 200*time.Millisecond
			if err := Run(t.Context(), o); !errors.Is(err, ErrUnreachable) {
				t.Errorf("failing each time: %v, expected %v", err, ErrUnreachable)
			}
		})
	}
}

func TestRefusedGroupEndsTheRun(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		b := newBroker(t, 1)
		b.protocol = protocol
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup, kmsg.ConsumerGroupHeartbeat}, Err: kerr.GroupAuthorizationFailed, Count: -1})
		l, err := New(b.options(newStore()))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(t.Context()); err == nil {
			t.Fatal("no error, though the group is refused")
		}
	})
}

func TestMembersJoinAndLeaveWithoutLoss(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		b := newBroker(t, 4)
		b.protocol = protocol
		s := newStore()
		member := func() *running {
			o := b.options(s)
			o.MaxBatchRecords = 20
			return start(t, o)
		}
		produce := func() { b.produce(300, 0, 1, 2, 3) }
		share := func(l *running) int { return len(l.Status().Partitions) }
		produce()
		first := member()
		eventually(t, "the first has all", func() bool { return share(first) == 4 })
		produce()
		second := member()
		eventually(t, "two share", func() bool { return share(first) == 2 && share(second) == 2 })
		produce()
		third := member()
		eventually(t, "three share", func() bool { return share(first)+share(second)+share(third) == 4 && share(third) > 0 })
		produce()
		first.stop()
		eventually(t, "two share again", func() bool { return share(second) == 2 && share(third) == 2 })
		produce()
		second.stop()
		eventually(t, "all written", func() bool { n, _ := s.count(); return n == 4*1500 })
		third.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 4*1500) // drained at every revoke: nothing twice either
	})
}

func TestDeadMemberIsReplacedWithoutLoss(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		b := newBroker(t, 2, shortSessions())
		b.protocol = protocol
		b.produce(200, 0, 1)
		s := newStore()
		short := func() Options {
			o := b.options(s)
			o.SessionTimeout, o.RebalanceTimeout, o.Heartbeat = 3*time.Second, 3*time.Second, 20*time.Millisecond
			return o
		}
		first, second := start(t, short()), start(t, short())
		eventually(t, "both have one", func() bool {
			a, b := first.Status(), second.Status()
			return a.Joined && b.Joined && len(a.Partitions) == 1 && len(b.Partitions) == 1
		})
		first.kill()
		b.produce(200, 0, 1)
		eventually(t, "all committed by the other", func() bool { return b.committedOffset(0) == 400 && b.committedOffset(1) == 400 })
		second.stop()
		if !s.holds(0, 400) || !s.holds(1, 400) {
			t.Error("records are missing")
		}
	})
}

// A member whose heartbeats do not arrive loses its partitions. What it settles afterwards it must not commit.
func TestRevokedPartitionNeverCommits(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		b := newBroker(t, 1, shortSessions())
		b.protocol = protocol
		b.produce(10, 0)
		s, stuck := newStore(), make(chan struct{})
		s.gate = func(int) <-chan struct{} { return stuck }
		var muted atomic.Bool
		var old atomic.Value
		b.ControlKey(int16(kmsg.Heartbeat), func(r kmsg.Request) (kmsg.Response, error, bool) {
			b.KeepControl()
			return r.ResponseKind(), nil, muted.Load() && r.(*kmsg.HeartbeatRequest).MemberID == old.Load()
		})
		b.ControlKey(int16(kmsg.ConsumerGroupHeartbeat), func(r kmsg.Request) (kmsg.Response, error, bool) {
			b.KeepControl() // the member believes that it is alive; the coordinator does not hear from it
			return r.ResponseKind(), nil, muted.Load() && r.(*kmsg.ConsumerGroupHeartbeatRequest).MemberID == old.Load()
		})
		o := b.options(s)
		o.SessionTimeout, o.Heartbeat, o.CommitInterval = 3*time.Second, 20*time.Millisecond, 10*time.Millisecond
		var fenced atomic.Int64
		o.Hooks.CommitFailed = func(CommitFailedInfo) { fenced.Add(1) }
		l := start(t, o)
		eventually(t, "the flight is out", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.calls >= 1 })
		eventually(t, "the start is committed", func() bool { return b.committedOffset(0) == 0 })
		eventually(t, "the group knows it", func() bool {
			members := b.GroupInfo(group).Members
			if len(members) == 1 {
				old.Store(members[0].MemberID)
			}
			return len(members) == 1
		})
		muted.Store(true)
		eventually(t, "the member is thrown out", func() bool { return len(b.GroupInfo(group).Members) == 0 })

		other := start(t, b.options(newStore())) // with its own store: only what it writes itself counts
		eventually(t, "the new owner has committed", func() bool { return b.committedOffset(0) == 10 })
		b.produce(5, 0)
		eventually(t, "the new owner goes on", func() bool { return b.committedOffset(0) == 15 })
		close(stuck) // now the old owner settles 0 to 9
		eventually(t, "the old owner's commit was refused", func() bool { return fenced.Load() > 0 })
		if got := b.committedOffset(0); got != 15 {
			t.Errorf("committed %d, expected 15", got)
		}
		muted.Store(false)
		other.stop()
		l.stop()
		b.wantCommitted(b.sent)
	})
}

// The broker watches what every member commits: it must only rise.
func TestCommitNeverGoesBackwards(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		b := newBroker(t, 2)
		b.protocol = protocol
		var mu sync.Mutex
		highest, backwards := map[int32]int64{}, 0
		b.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
			b.KeepControl()
			mu.Lock()
			defer mu.Unlock()
			for _, topic := range r.(*kmsg.OffsetCommitRequest).Topics {
				for _, p := range topic.Partitions {
					if p.Offset < highest[p.Partition] {
						backwards++
					}
					highest[p.Partition] = max(highest[p.Partition], p.Offset)
				}
			}
			return nil, nil, false
		})
		b.produce(2000, 0, 1)
		s := newStore()
		s.decide = func(call int, batch []place) ([]event.Failure, error) {
			if call%3 == 0 {
				return all(batch, event.Retry, event.Unavailable), nil
			}
			return nil, nil
		}
		o := b.options(s)
		o.MaxBatchRecords, o.CommitInterval = 10, time.Millisecond
		o.SessionTimeout, o.RebalanceTimeout = 3*time.Second, 3*time.Second
		first := start(t, o)
		eventually(t, "some written", func() bool { n, _ := s.count(); return n > 500 })
		second := start(t, o)
		eventually(t, "more written", func() bool { n, _ := s.count(); return n > 2000 })
		first.stop()
		eventually(t, "all committed", func() bool { return b.committedOffset(0) == 2000 && b.committedOffset(1) == 2000 })
		second.stop()
		mu.Lock()
		defer mu.Unlock()
		if backwards > 0 {
			t.Errorf("%d commits went backwards", backwards)
		}
		if !s.holds(0, 2000) || !s.holds(1, 2000) {
			t.Error("records are missing")
		}
	})
}

func TestCommitThatFailsIsMadeAgain(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		b := newBroker(t, 1)
		b.protocol = protocol
		b.produce(10, 0)
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.CoordinatorLoadInProgress, Count: 2})
		var failed atomic.Int64
		o := b.options(newStore())
		o.Hooks.CommitFailed = func(CommitFailedInfo) { failed.Add(1) }
		l := start(t, o)
		eventually(t, "committed", func() bool { return b.committedOffset(0) == 10 })
		l.stop()
		if failed.Load() != 2 {
			t.Errorf("%d commits failed, expected 2", failed.Load())
		}
	})
}
