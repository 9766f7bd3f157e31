package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
	"brine/ingest/internal/broker"
)

// member returns the options of a member, static if it has an instance id. It counts the member's generations.
func (b *fakeKafka) member(w event.Writer, instance string, generations *atomic.Int64) Options {
	o := b.defaults(w)
	o.InstanceID = instance
	o.Hooks.Assigned = func(AssignedInfo) { generations.Add(1) }
	return o
}

func TestStaticMemberRestartsWithoutARebalance(t *testing.T) {
	inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
		b.produce(50, 0, 1, 2, 3)
		s := newStore()
		var stays, first, second atomic.Int64
		other := start(t, b.member(s, "pod-0", &stays))
		l := start(t, b.member(s, "pod-1", &first))
		time.Sleep(30 * time.Second)
		before, ours := stays.Load(), l.assigned()
		l.stop()
		b.produce(50, 0, 1, 2, 3)
		time.Sleep(20 * time.Second) // less than the session timeout
		l = start(t, b.member(s, "pod-1", &second))
		time.Sleep(20 * time.Second)
		if stays.Load() != before || second.Load() != 1 {
			t.Errorf("the other member was in %d generations before the restart and in %d after it, and ours in %d; expected no new one", before, stays.Load(), second.Load())
		}
		if len(ours) != 2 || !slices.Equal(l.assigned(), ours) {
			t.Errorf("partitions %v before the restart and %v after it, expected the same two", ours, l.assigned())
		}
		s.wantOnce(t, 400)
		other.stop()
		l.stop()
		b.wantCommitted(b.sent)
	})
}

func TestStaticMemberThatStaysAwayIsReplaced(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		s := newStore()
		var n atomic.Int64
		other := start(t, b.member(s, "pod-0", &n))
		l := start(t, b.member(s, "pod-1", &n))
		time.Sleep(30 * time.Second)
		l.stop()
		b.produce(10, 0, 1)
		time.Sleep(10 * time.Second)
		if got, _ := s.count(); got != 10 {
			t.Errorf("%d records written while the partition is held for its member, expected the other's 10", got)
		}
		time.Sleep(time.Minute)
		s.wantOnce(t, 20)
		other.stop()
		b.wantCommitted(b.sent)
	})
}

func TestSecondProcessOfAnInstanceEndsTheFirst(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		s := newStore()
		var n atomic.Int64
		first, err := New(b.member(s, "pod-0", &n))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- first.Run(context.Background()) }()
		time.Sleep(10 * time.Second)
		second := start(t, b.member(s, "pod-0", &n))
		time.Sleep(10 * time.Second)
		select {
		case err := <-ended:
			if !errors.Is(err, broker.ErrFenced) || !strings.Contains(err.Error(), `another process joined with instance id "pod-0"`) {
				t.Errorf("the first ended with %v", err)
			}
		default:
			t.Fatal("the first goes on")
		}
		b.produce(10, 0)
		time.Sleep(5 * time.Second)
		second.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 20)
	})
}

// With more members than partitions, the one without any waits for some, and does not rejoin over and over.
func TestMemberWithoutPartitionsWaitsForSome(t *testing.T) {
	t.Run("static", func(t *testing.T) { waitsForSome(t, "pod-0", "pod-1") })
	t.Run("dynamic", func(t *testing.T) { waitsForSome(t, "", "") })
}

func waitsForSome(t *testing.T, first, second string) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		s := newStore()
		var n atomic.Int64
		busy := start(t, b.member(s, first, &n))
		time.Sleep(10 * time.Second)
		idle := start(t, b.member(s, second, &n))
		time.Sleep(10 * time.Minute)
		if len(idle.assigned()) > 0 { // the broker assigns the ids, and so the order
			busy, idle = idle, busy
		}
		if n.Load() != 3 {
			t.Errorf("%d generations of two members, expected the first's, and one of both", n.Load())
		}
		if st := idle.Status(); !st.Joined || len(st.Partitions) != 0 || len(st.Problems(time.Now(), time.Minute)) != 0 {
			t.Errorf("status without partitions %+v", st)
		}
		busy.stop()
		b.produce(10, 0)
		time.Sleep(time.Minute)
		idle.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 20)
	})
}

// assigned returns the partitions of a loop.
func (r *running) assigned() (ids []int) {
	for _, p := range r.Status().Partitions {
		ids = append(ids, p.Partition)
	}
	return ids
}

// Whatever the coordinator answers to a heartbeat, nothing is lost or doubled, and the group rebalances only when it must.
func TestEveryAnswerToAHeartbeat(t *testing.T) {
	for _, c := range []struct {
		answer      *kerr.Error
		generations int64
	}{
		{kerr.RebalanceInProgress, 2},
		{kerr.UnknownMemberID, 2},
		{kerr.IllegalGeneration, 2},
		{kerr.NotCoordinator, 1},
		{kerr.CoordinatorNotAvailable, 1},
		{kerr.CoordinatorLoadInProgress, 1},
		{kerr.UnknownServerError, 1},
	} {
		t.Run(c.answer.Message, func(t *testing.T) {
			inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
				b.produce(20, 0, 1)
				b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Err: c.answer})
				s := newStore()
				o := b.defaults(s)
				var generations atomic.Int64
				o.Hooks.Assigned = func(AssignedInfo) { generations.Add(1) }
				l := start(t, o)
				time.Sleep(time.Minute)
				b.produce(20, 0, 1)
				time.Sleep(time.Minute)
				if generations.Load() != c.generations {
					t.Errorf("%d generations, expected %d", generations.Load(), c.generations)
				}
				l.stop()
				b.wantCommitted(b.sent)
				s.wantOnce(t, 80)
			})
		})
	}
}

// Each request of a join fails once, with each error that may pass.
func TestEveryFailureOfAJoinIsTriedAgain(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.FindCoordinator, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.OffsetFetch} {
		for _, e := range []*kerr.Error{kerr.NotCoordinator, kerr.CoordinatorLoadInProgress, kerr.RebalanceInProgress, kerr.UnknownMemberID, kerr.IllegalGeneration} {
			t.Run(key.Name()+"/"+e.Message, func(t *testing.T) {
				inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
					b.produce(20, 0)
					first := true
					b.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: e, When: func(kmsg.Request) bool { // the first is made at startup
						skip := first && key == kmsg.OffsetFetch
						first = false
						return !skip
					}})
					s := newStore()
					l := start(t, b.defaults(s))
					time.Sleep(time.Minute)
					l.stop()
					b.wantCommitted(b.sent)
					s.wantOnce(t, 20)
				})
			})
		}
	}
}

// Connections to the coordinator break, and it cannot be reached for less than the session timeout.
func TestCoordinatorAwayForAWhileCostsNoRebalance(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
			b.protocol = protocol
			b.produce(20, 0, 1)
			s := newStore()
			o := b.defaults(s)
			var down atomic.Bool
			o.Kafka.Dial = unless(&down, o.Kafka.Dial)
			var generations atomic.Int64
			o.Hooks.Assigned = func(AssignedInfo) { generations.Add(1) }
			l := start(t, o)
			time.Sleep(10 * time.Second)
			down.Store(true)
			l.cluster.Cut()
			time.Sleep(20 * time.Second)
			down.Store(false)
			b.produce(20, 0, 1)
			time.Sleep(20 * time.Second)
			if generations.Load() != 1 {
				t.Errorf("%d generations, expected 1", generations.Load())
			}
			l.stop()
			b.wantCommitted(b.sent)
			s.wantOnce(t, 80)
		})
	})
}

func TestCoordinatorMovesAreFollowed(t *testing.T) {
	b := newBroker(t, 2, kfake.NumBrokers(3))
	s := newStore()
	l := start(t, b.options(s))
	for round := range int64(4) {
		b.produce(50, 0, 1)
		eventually(t, "committed", func() bool { return b.committedOffset(0) == 50*(round+1) && b.committedOffset(1) == 50*(round+1) })
		b.RehashCoordinators()
	}
	l.stop()
	s.wantOnce(t, 400)
}
