package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"brine/ingest/internal/broker"
	"brine/ingest/offsets"
)

// A member that joins or leaves moves only the partitions that it gets or had; no other ends.
func TestUntouchedPartitionsGoOn(t *testing.T) {
	inBubble(t, 8, func(t *testing.T, b *fakeKafka) {
		b.protocol = Consumer
		s := newStore()
		var mu sync.Mutex
		var revoked []int
		o := b.defaults(s)
		o.Hooks.Revoked = func(i RevokedInfo) {
			mu.Lock()
			defer mu.Unlock()
			revoked = append(revoked, i.Partitions...)
		}
		first := start(t, o)
		time.Sleep(10 * time.Second)
		b.produce(50, 0, 1, 2, 3, 4, 5, 6, 7)
		second := start(t, b.defaults(s))
		time.Sleep(30 * time.Second)
		b.produce(50, 0, 1, 2, 3, 4, 5, 6, 7)
		time.Sleep(5 * time.Second)
		mu.Lock()
		gone := slices.Sorted(slices.Values(revoked))
		mu.Unlock()
		if theirs := second.assigned(); len(theirs) != 4 || !slices.Equal(gone, theirs) || len(first.assigned()) != 4 {
			t.Errorf("partitions %v were revoked; the new member has %v, the first %v", gone, theirs, first.assigned())
		}
		second.stop()
		time.Sleep(20 * time.Second)
		if len(first.assigned()) != 8 {
			t.Errorf("the first has %v after the second has left", first.assigned())
		}
		first.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 8*100)
	})
}

// Whatever the coordinator answers to a heartbeat of the consumer protocol, nothing is lost, and the member stays or returns.
func TestEveryAnswerToAConsumersHeartbeat(t *testing.T) {
	for _, c := range []struct {
		answer *kerr.Error
		again  bool // the member rejoins
	}{
		{kerr.FencedMemberEpoch, true},
		{kerr.UnknownMemberID, true},
		{kerr.UnreleasedInstanceID, true},
		{kerr.NotCoordinator, false},
		{kerr.CoordinatorNotAvailable, false},
		{kerr.CoordinatorLoadInProgress, false},
		{kerr.UnknownServerError, false},
	} {
		t.Run(c.answer.Message, func(t *testing.T) {
			inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
				b.protocol = Consumer
				b.produce(20, 0, 1)
				b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ConsumerGroupHeartbeat}, Err: c.answer, When: func(r kmsg.Request) bool {
					return r.(*kmsg.ConsumerGroupHeartbeatRequest).MemberEpoch > 0
				}})
				s := newStore()
				o := b.defaults(s)
				var taken atomic.Int64
				o.Hooks.Assigned = func(i AssignedInfo) { taken.Add(int64(len(i.Partitions))) }
				l := start(t, o)
				time.Sleep(2 * time.Minute)
				b.produce(20, 0, 1)
				time.Sleep(time.Minute)
				if want := map[bool]int64{false: 2, true: 4}[c.again]; taken.Load() != want {
					t.Errorf("%d partitions were taken, expected %d", taken.Load(), want)
				}
				l.stop()
				b.wantCommitted(b.sent)
				s.wantOnce(t, 80)
			})
		})
	}
}

// Answers to a heartbeat that no retry changes end the membership, whether it has just begun or has partitions: what was assigned is dropped,
// and the run ends with the reason. Only brokers that no longer speak the protocol make a member of auto go on by the classic one.
func TestFinalAnswersToAConsumersHeartbeat(t *testing.T) {
	for _, c := range []struct {
		answer   *kerr.Error
		protocol GroupProtocol
		goesOn   bool
	}{
		{kerr.UnsupportedAssignor, Consumer, false},
		{kerr.UnsupportedAssignor, Auto, false},
		{kerr.InvalidRegularExpression, Consumer, false},
		{kerr.InvalidRegularExpression, Auto, false},
		{kerr.UnsupportedVersion, Consumer, false},
		{kerr.UnsupportedVersion, Auto, true},
	} {
		for when, joined := range map[string]bool{"at the join": false, "as a member": true} {
			t.Run(c.answer.Message+"/"+string(c.protocol)+"/"+when, func(t *testing.T) {
				inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
					b.protocol = c.protocol
					b.produce(20, 0, 1)
					b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ConsumerGroupHeartbeat}, Err: c.answer, Count: -1, When: func(r kmsg.Request) bool {
						epoch := r.(*kmsg.ConsumerGroupHeartbeatRequest).MemberEpoch
						return joined && epoch > 0 || !joined && epoch == 0
					}})
					s := newStore()
					l := newLoop(t, b.defaults(s))
					ctx, stop := context.WithCancel(context.Background())
					defer stop()
					ended := make(chan error, 1)
					go func() { ended <- l.Run(ctx) }()
					time.Sleep(2 * time.Minute)
					select {
					case err := <-ended:
						if c.goesOn || !errors.Is(err, kafka.Error(c.answer.Code)) {
							t.Errorf("it ends with %v", err)
						}
						if st := l.Status(); st.Joined {
							t.Errorf("it has ended as a member: %+v", st)
						}
						return
					default:
					}
					if !c.goesOn {
						t.Fatal("it goes on")
					}
					b.produce(20, 0, 1)
					time.Sleep(time.Minute)
					stop()
					if err := <-ended; err != nil {
						t.Error(err)
					}
					s.wantOnce(t, 80)
					if !joined { // this Kafka takes no commits of classic members in a group that has had others
						b.wantCommitted(b.sent)
					}
				})
			})
		}
	}
}

// Whatever the coordinator answers to a commit with an epoch, the commit is repeated, or the partition is given up.
func TestEveryAnswerToACommitWithAnEpoch(t *testing.T) {
	for _, answer := range []*kerr.Error{kerr.StaleMemberEpoch, kerr.NotCoordinator, kerr.CoordinatorLoadInProgress, kerr.FencedMemberEpoch, kerr.UnknownMemberID} {
		t.Run(answer.Message, func(t *testing.T) {
			inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
				b.protocol = Consumer
				b.produce(20, 0, 1)
				b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: answer, Count: 2})
				s := newStore()
				l := start(t, b.defaults(s))
				time.Sleep(2 * time.Minute)
				b.produce(20, 0, 1)
				time.Sleep(time.Minute)
				l.stop()
				b.wantCommitted(b.sent)
				s.wantOnce(t, 80)
			})
		})
	}
}

// A fenced member rejoins with the same id: what it settles from before must not be committed with its new epoch.
func TestFencedConsumerNeverCommitsWhatItHad(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.protocol = Consumer
		b.produce(10, 0)
		s, stuck := newStore(), make(chan struct{})
		s.gate = func(call int) <-chan struct{} {
			if call > 1 {
				return nil
			}
			return stuck
		}
		o := b.defaults(s)
		var abandoned atomic.Int64
		o.Hooks.Revoked = func(i RevokedInfo) { abandoned.Add(int64(i.Abandoned)) }
		l := start(t, o)
		time.Sleep(10 * time.Second)
		var fence atomic.Bool
		fence.Store(true)
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ConsumerGroupHeartbeat}, Err: kerr.FencedMemberEpoch, When: func(r kmsg.Request) bool {
			return r.(*kmsg.ConsumerGroupHeartbeatRequest).MemberEpoch > 0 && fence.Swap(false)
		}})
		time.Sleep(20 * time.Second)
		if abandoned.Load() != 1 {
			t.Errorf("%d flights were given up as the member was fenced, expected 1", abandoned.Load())
		}
		close(stuck)
		time.Sleep(20 * time.Second)
		l.stop()
		b.wantCommitted(b.sent)
		if !s.holds(0, 10) {
			t.Error("records are missing")
		}
	})
}

// A member that hears nothing from the brokers for SessionTimeout gives up what it has, whether they refuse connections or are silent: they
// may have given its partitions to others.
func TestUnheardConsumerGivesUpAfterItsSession(t *testing.T) {
	for name, session := range map[string]time.Duration{"shorter than a few heartbeats": 6 * time.Second, "longer than the brokers' own": 2 * time.Minute} {
		for away, cut := range map[string]bool{"refused": true, "silent": false} {
			t.Run(name+", "+away, func(t *testing.T) {
				inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
					b.protocol = Consumer
					b.produce(10, 0)
					s, never := newStore(), make(chan struct{})
					defer close(never)
					s.gate = func(int) <-chan struct{} { return never }
					o := b.defaults(s)
					o.SessionTimeout = session
					var down atomic.Bool
					o.Kafka.Dial = unless(&down, o.Kafka.Dial)
					var gone atomic.Pointer[time.Time]
					o.Hooks.Revoked = func(RevokedInfo) {
						now := time.Now()
						gone.CompareAndSwap(nil, &now)
					}
					l := start(t, o)
					time.Sleep(20 * time.Second)
					if cut {
						down.Store(true)
						l.cluster.Cut()
					} else {
						b.ControlKey(int16(kmsg.ConsumerGroupHeartbeat), func(kmsg.Request) (kmsg.Response, error, bool) {
							b.KeepControl()
							return nil, nil, true
						})
					}
					before := time.Now()
					time.Sleep(4 * time.Minute)
					if at := gone.Load(); at == nil {
						t.Error("it has kept its partition")
					} else if took := at.Sub(before); took < session-6*time.Second || took > session+session/3+2*time.Second {
						t.Errorf("it has given up its partition after %v, want %v after the last answer", took, session)
					}
					l.cancel()
					time.Sleep(time.Minute)
				})
			})
		}
	}
}

func TestStaticConsumerRestartsWithItsPartitions(t *testing.T) {
	inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
		b.protocol = Consumer
		b.produce(50, 0, 1, 2, 3)
		s := newStore()
		var stays, n atomic.Int64
		other := start(t, b.member(s, "pod-0", &stays))
		l := start(t, b.member(s, "pod-1", &n))
		time.Sleep(30 * time.Second)
		before, ours := stays.Load(), l.assigned()
		l.stop()
		b.produce(50, 0, 1, 2, 3)
		time.Sleep(20 * time.Second) // less than the session
		l = start(t, b.member(s, "pod-1", &n))
		time.Sleep(20 * time.Second)
		if stays.Load() != before {
			t.Errorf("the other member was assigned partitions %d times before the restart and %d after it", before, stays.Load())
		}
		if len(ours) != 2 || !slices.Equal(l.assigned(), ours) {
			t.Errorf("partitions %v before the restart and %v after it, expected the same two", ours, l.assigned())
		}
		other.stop()
		l.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 400)
	})
}

// In the consumer protocol, the second process with an instance id ends; in the classic protocol, the first does.
func TestSecondConsumerOfAnInstanceEnds(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.protocol = Consumer
		b.produce(10, 0)
		s := newStore()
		var n atomic.Int64
		first := start(t, b.member(s, "pod-0", &n))
		time.Sleep(10 * time.Second)
		second, err := New(b.member(s, "pod-0", &n))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- second.Run(context.Background()) }()
		time.Sleep(5 * time.Minute)
		select {
		case err := <-ended:
			if !errors.Is(err, broker.ErrFenced) || !strings.Contains(err.Error(), `instance id "pod-0"`) {
				t.Errorf("the second ended with %v", err)
			}
		default:
			t.Fatal("the second goes on")
		}
		b.produce(10, 0)
		time.Sleep(5 * time.Second)
		first.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 20)
	})
}

// If brokers do not have the consumer protocol, or have it turned off, auto uses the classic one, and consumer fails.
func TestBrokersWithoutTheConsumerProtocol(t *testing.T) {
	old := kversion.V3_6_0()
	for name, c := range map[string]struct {
		opts []kfake.Opt
		off  bool
	}{
		"older":      {opts: []kfake.Opt{kfake.MaxVersions(old)}},
		"turned off": {off: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBroker(t, 1, c.opts...)
			if c.off {
				b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ConsumerGroupHeartbeat}, Err: kerr.UnsupportedVersion, Count: -1})
			}
			b.produce(10, 0)
			b.protocol = Consumer
			if err := Run(t.Context(), b.options(newStore())); !errors.Is(err, broker.ErrNoConsumers) || !strings.Contains(err.Error(), "group_protocol") {
				t.Errorf("consumer: %v", err)
			}
			b.protocol = Auto
			s := newStore()
			l := start(t, b.options(s))
			eventually(t, "written", func() bool { return s.holds(0, 10) })
			l.stop()
			b.wantCommitted(b.sent)
		})
	}
}

// A partition whose store hangs is given up within a third of the rebalance timeout, and the next member gets its records.
func TestConsumersReleaseIsBounded(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.protocol = Consumer
		b.produce(10, 0, 1)
		hung, well := newStore(), newStore()
		never := make(chan struct{})
		defer close(never)
		hung.gate = func(int) <-chan struct{} { return never }
		o := b.defaults(hung)
		o.RebalanceTimeout = 45 * time.Second
		var given atomic.Int64
		o.Hooks.Revoked = func(i RevokedInfo) { given.Add(int64(i.Abandoned)) }
		first := start(t, o)
		time.Sleep(10 * time.Second)
		second := start(t, b.defaults(well))
		time.Sleep(10 * time.Second)
		if len(second.assigned()) != 0 {
			t.Error("a partition has two members")
		}
		time.Sleep(30 * time.Second)
		if n, _ := well.count(); n != 10 || given.Load() != 1 || len(first.assigned()) != 1 {
			t.Errorf("the new owner has %d records, expected 10; %d flights were given up, expected 1", n, given.Load())
		}
		second.stop()
		first.cancel()
		time.Sleep(time.Minute)
	})
}

// New topics that match a pattern are subscribed to; their partitions are taken while the others run.
func TestConsumerFollowsAPattern(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.protocol = Consumer
		s := newStore()
		o := b.defaults(s)
		o.Topic, o.Topics = "", &Topics{Match: func(name string) bool {
			return strings.HasPrefix(name, "courier.") && !strings.HasSuffix(name, ".dead")
		}}
		l := start(t, o)
		time.Sleep(10 * time.Second)
		made := kmsg.NewPtrCreateTopicsRequest()
		made.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "courier.late", NumPartitions: 2, ReplicationFactor: 1}}
		if _, err := made.RequestWith(t.Context(), b.client); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if got := len(l.Status().Partitions); got != 3 {
			t.Errorf("%d partitions, expected 3", got)
		}
		l.stop()
	})
}

// The offsets of a group whose members use the consumer protocol cannot be set, and its members are listed. (This Kafka does not name their
// topics; see TestRealGroupChangesItsProtocol.)
func TestOffsetsOfAConsumersGroupStay(t *testing.T) {
	b := newBroker(t, 2)
	b.protocol = Consumer
	b.produce(10, 0, 1)
	l := start(t, b.options(newStore()))
	eventually(t, "committed", func() bool { return b.committedOffset(0) == 10 && b.committedOffset(1) == 10 })
	c := offsets.Open(l.Kafka, time.Minute)
	defer c.Close()
	g, err := c.Group(t.Context(), group, topic)
	if err != nil || len(g.Members) != 1 {
		t.Fatalf("%+v, %v", g, err)
	}
	moves, err := g.Moves(map[int]int64{0: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Set(t.Context(), g, moves); !errors.Is(err, offsets.ErrMembers) {
		t.Errorf("setting offsets: %v", err)
	}
	l.stop()
	if err := c.Set(t.Context(), g, moves); err != nil || b.committedOffset(0) != 3 {
		t.Errorf("once it has no member: %v, committed %d", err, b.committedOffset(0))
	}
}

// A member knows all topics that it subscribes to, even if others own all their partitions: a run until the end waits for them, and its
// share of a limit counts all partitions.
func TestConsumerKnowsTopicsOfWhichItHasNothing(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.protocol = Consumer
		b.create("shop.a", 1, 10)
		b.create("shop.b", 1, 10)
		s := newTopicStore()
		var members []*running
		for range 3 {
			members = append(members, start(t, b.several(s, Topics{Names: []string{"shop.b", "shop.a"}})))
			time.Sleep(30 * time.Second)
		}
		for i, l := range members {
			if reads := slices.Sorted(slices.Values(l.Reads())); !slices.Equal(reads, []string{"shop.a", "shop.b"}) {
				t.Errorf("member %d, who has partitions of %d topics, reads %q", i, len(l.Status().Partitions), reads)
			}
			if share, want := l.Pace.State().Share, float64(len(l.Status().Partitions))/2; share != want {
				t.Errorf("the share of member %d is %v, expected %v", i, share, want)
			}
		}
		for _, l := range members {
			l.stop()
		}
	})
}

// A member's share of a limit counts the partitions that its topics have now.
func TestConsumersShareFollowsAddedPartitions(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.protocol = Consumer
		b.create("shop.a", 1, 10)
		s := newTopicStore()
		members := []*running{start(t, b.several(s, Topics{Names: []string{"shop.a"}}))}
		time.Sleep(30 * time.Second)
		more := kmsg.NewPtrCreatePartitionsRequest()
		more.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: "shop.a", Count: 4}}
		if _, err := more.RequestWith(t.Context(), b.client); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		members = append(members, start(t, b.several(s, Topics{Names: []string{"shop.a"}})))
		time.Sleep(time.Minute)
		for i, l := range members {
			if share := l.Pace.State().Share; share != 0.5 || len(l.Status().Partitions) != 2 {
				t.Errorf("the share of member %d, who has %d of 4 partitions, is %v", i, len(l.Status().Partitions), share)
			}
			l.stop()
		}
	})
}

// A member that is fenced during the last commit of a release gives up that commit, rejoins at once and goes on; what it had is reported as
// revoked once.
func TestFencedConsumerEndsItsLastCommit(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.protocol = Consumer
		s := newStore()
		o := b.defaults(s)
		o.RebalanceTimeout = 30 * time.Minute
		var mu sync.Mutex
		ours, twice := map[int]bool{}, 0
		o.Hooks.Assigned = func(i AssignedInfo) {
			mu.Lock()
			defer mu.Unlock()
			for _, p := range i.Partitions {
				ours[p] = true
			}
		}
		o.Hooks.Revoked = func(i RevokedInfo) {
			mu.Lock()
			defer mu.Unlock()
			for _, p := range i.Partitions {
				if !ours[p] {
					twice++
				}
				delete(ours, p)
			}
		}
		var failing, fence atomic.Bool
		failing.Store(true)
		var first atomic.Value // the id of the fenced member
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.UnknownServerError, Count: -1, When: func(kmsg.Request) bool { return failing.Load() }})
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ConsumerGroupHeartbeat}, Err: kerr.FencedMemberEpoch, Count: -1, When: func(r kmsg.Request) bool {
			q := r.(*kmsg.ConsumerGroupHeartbeatRequest)
			first.CompareAndSwap(nil, q.MemberID)
			return q.MemberEpoch > 0 && q.MemberID == first.Load() && fence.Swap(false)
		}})
		l := start(t, o)
		time.Sleep(10 * time.Second)
		b.produce(10, 0, 1)
		time.Sleep(time.Second)
		other := start(t, b.defaults(newStore())) // one partition must be released, but cannot be committed
		time.Sleep(20 * time.Second)
		if len(l.assigned()) != 2 {
			t.Fatalf("partitions %v, expected both: one is being released", l.assigned())
		}
		fence.Store(true)
		time.Sleep(10 * time.Second)
		if fence.Load() || len(l.assigned()) != 1 {
			t.Errorf("10 s after the fence it has %v, expected one partition of its new time", l.assigned())
		}
		failing.Store(false)
		time.Sleep(time.Minute)
		if status := l.Status(); !status.Joined || len(status.Partitions)+len(other.assigned()) != 2 {
			t.Errorf("a minute after the fence: joined %v, partitions %v, and %v of the other", status.Joined, l.assigned(), other.assigned())
		}
		other.stop()
		l.stop()
		b.wantCommitted(b.sent)
		if len(ours) != 0 || twice != 0 {
			t.Errorf("%d partitions were never revoked, and %d times one that was not ours", len(ours), twice)
		}
	})
}

// A stopped loop reports what became of its partitions: where they are committed, and that they were halted because all records were
// rejected. The summary of a run, and where a reload resumes, depend on it.
func TestStoppedLoopSaysWhatItHad(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
			b.protocol = protocol
			b.produce(10, 0, 1)
			o := b.defaults(newStore())
			o.DeadLetters, o.HaltAfterRejects = &letters{}, 20
			l := start(t, o)
			time.Sleep(20 * time.Second)
			for range 30 {
				b.poison(0)
			}
			time.Sleep(20 * time.Second)
			halted := l.Status().AllRejected
			l.stop()
			status := l.Status()
			if halted == "" || status.AllRejected != halted || status.Joined {
				t.Errorf("halted by %q, and once it is stopped by %q", halted, status.AllRejected)
			}
			if len(status.Partitions) != 2 {
				t.Fatalf("partitions %+v, expected the two that it had", status.Partitions)
			}
			for _, p := range status.Partitions {
				if p.Committed != b.committedOffset(p.Partition) || p.Committed < 10 {
					t.Errorf("partition %d is committed to %d, and it says %d", p.Partition, b.committedOffset(p.Partition), p.Committed)
				}
			}
		})
	})
}
