package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/internal/testenv"
)

// pair is two members of a group with four partitions, of which one is handed over.
type pair struct {
	b             *fakeKafka
	t             *testing.T
	s             *store
	before, other *running
	ours, theirs  []int

	mu    sync.Mutex
	given []int // partitions that the other member was assigned after the first ones
}

func startPair(t *testing.T, b *fakeKafka, protocol GroupProtocol) *pair {
	b.protocol = protocol
	b.produce(10, 0, 1, 2, 3)
	p := &pair{b: b, t: t, s: newStore()}
	p.before = start(t, p.options("before"))
	o := p.options("other")
	o.Hooks.Assigned = func(i AssignedInfo) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.given = append(p.given, i.Partitions...)
	}
	p.other = start(t, o)
	time.Sleep(30 * time.Second)
	p.ours, p.theirs = owned(p.before.Loop), owned(p.other.Loop)
	if len(p.ours) != 2 || len(p.theirs) != 2 {
		t.Fatalf("the members own %v and %v, want two each", p.ours, p.theirs)
	}
	p.noted("before", "other")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given = nil
	return p
}

func (p *pair) options(reader string) Options {
	o := p.b.defaults(p.s)
	o.Admit = func(context.Context, Taken) (string, error) { return reader, nil }
	return o
}

// noted checks what the last commits of the first member's partitions note, and of the other's.
func (p *pair) noted(ours, theirs string) {
	p.t.Helper()
	commits := p.b.GroupInfo(group).Commits[topic]
	for id := range 4 {
		want := theirs
		if slices.Contains(p.ours, id) {
			want = ours
		}
		if got := NotedReader(commits[int32(id)].Metadata); got != want {
			p.t.Errorf("the commit of partition %d notes %q, want %q", id, got, want)
		}
	}
}

// lastNotes records the commits of the first member from now on. The returned function returns, by partition, the reader that its last
// commit notes. The other member may commit the same partitions as soon as it has been assigned them.
func (p *pair) lastNotes() (last func() map[int]string) {
	member, readers := p.before.Member(), map[int]string{}
	for _, id := range p.ours {
		readers[id] = "before" // committed when it began
	}
	p.b.ControlKey(int16(kmsg.OffsetCommit), func(q kmsg.Request) (kmsg.Response, error, bool) {
		p.b.KeepControl()
		if by := q.(*kmsg.OffsetCommitRequest); by.MemberID == member {
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, of := range by.Topics[0].Partitions {
				if of.Metadata != nil {
					readers[int(of.Partition)] = NotedReader(*of.Metadata)
				}
			}
		}
		return nil, nil, false
	})
	return func() map[int]string {
		p.mu.Lock()
		defer p.mu.Unlock()
		return maps.Clone(readers)
	}
}

func owned(l *Loop) (ids []int) {
	for _, s := range l.Status().Partitions {
		ids = append(ids, s.Partition)
	}
	return ids
}

// inPlace checks that a loop is the first member, with its partitions.
func (p *pair) inPlace(l *Loop) {
	p.t.Helper()
	if got := owned(l); !slices.Equal(got, p.ours) || l.Member() != p.before.Member() {
		p.t.Errorf("%s owns %v, want %v of %s", l.Member(), got, p.ours, p.before.Member())
	}
}

// gained returns what the other member has been assigned that it did not have.
func (p *pair) gained() (ids []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range p.given {
		if slices.Contains(p.ours, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// finish checks that each record was written once.
func (p *pair) finish(loops ...*running) {
	p.t.Helper()
	time.Sleep(10 * time.Second)
	for _, l := range loops {
		l.stop()
	}
	records := 0
	for _, n := range p.b.sent {
		records += int(n)
	}
	p.s.wantOnce(p.t, records)
}

// TestHandOver checks that the group moves no partition from a loop that hands its place over, and that its last commits note who goes on.
func TestHandOver(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
			p := startPair(t, b, protocol)
			after := newLoop(t, p.options("after"))
			p.before.HandOver(after, t.Context(), "after")
			p.before.stop()
			p.noted("after", "other")
			b.produce(10, 0, 1, 2, 3)
			time.Sleep(time.Second) // without a heartbeat
			r := startLoop(t, after)
			time.Sleep(30 * time.Second)
			p.inPlace(after)
			if got := p.gained(); len(got) > 0 {
				t.Errorf("the other member was assigned %v", got)
			}
			p.noted("after", "other")
			p.finish(r, p.other)
		})
	})
}

// TestHandOverWithoutASuccessor checks that a loop leaves the group as usual if nobody can go on in its place.
func TestHandOverWithoutASuccessor(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		for _, c := range []struct {
			name  string
			spoil func(p *pair, o *Options) (unless context.Context)
			notes string
		}{
			{"the process stops", func(p *pair, _ *Options) context.Context {
				ended, end := context.WithCancel(p.t.Context())
				end()
				return ended
			}, "before"},
			{"another protocol", func(p *pair, o *Options) context.Context {
				if o.GroupProtocol = Classic; protocol == Classic {
					o.GroupProtocol = Consumer
				}
				return p.t.Context()
			}, "after"},
			{"a commit in doubt", func(p *pair, _ *Options) context.Context {
				var dropped atomic.Bool
				p.b.ControlKey(int16(kmsg.OffsetCommit), func(q kmsg.Request) (kmsg.Response, error, bool) {
					p.b.KeepControl()
					by := q.(*kmsg.OffsetCommitRequest)
					if dropped.Load() || by.MemberID != p.before.Member() {
						return nil, nil, false
					}
					dropped.Store(true)
					return nil, errors.New("dropped"), true
				})
				p.b.produce(10, p.ours...)
				time.Sleep(5 * time.Second)
				if !dropped.Load() {
					p.t.Fatal("no commit was dropped")
				}
				return p.t.Context()
			}, "after"},
			{"another group", func(p *pair, o *Options) context.Context { o.Group = "another"; return p.t.Context() }, "after"},
		} {
			t.Run(c.name, func(t *testing.T) {
				inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
					p := startPair(t, b, protocol)
					last := p.lastNotes()
					o := p.options("after")
					unless := c.spoil(p, &o)
					p.before.HandOver(newLoop(t, o), unless, "after")
					p.before.stop()
					for id, reader := range last() {
						if reader != c.notes {
							t.Errorf("its last commit of partition %d notes %q, want %q", id, reader, c.notes)
						}
					}
					time.Sleep(20 * time.Second) // less than the session
					if got := owned(p.other.Loop); len(got) != 4 {
						t.Errorf("the other member owns %v, want all", got)
					}
					b.produce(10, 0, 1, 2, 3)
					p.finish(p.other)
				})
			})
		}
	})
}

// TestHandOverThatIsLate checks that a loop that has not stopped when the next one begins leaves the group, and that the other joins it.
func TestHandOverThatIsLate(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
			p := startPair(t, b, protocol)
			after := newLoop(t, p.options("after"))
			p.before.HandOver(after, t.Context(), "after")
			r := startLoop(t, after)
			time.Sleep(time.Minute)
			p.before.stop()
			time.Sleep(20 * time.Second) // less than the session
			if got := owned(after); len(got) != 2 || after.Member() == p.before.Member() {
				t.Errorf("%s owns %v, want two, as another member than %s", after.Member(), got, p.before.Member())
			}
			b.produce(10, 0, 1, 2, 3)
			p.finish(r, p.other)
		})
	})
}

// TestPlaceThatTheGroupGaveAway checks that a loop that takes over a place which the group no longer has joins as another member.
func TestPlaceThatTheGroupGaveAway(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
			p := startPair(t, b, protocol)
			after := newLoop(t, p.options("after"))
			p.before.HandOver(after, t.Context(), "after")
			p.before.stop()
			time.Sleep(5 * time.Minute)
			if got := owned(p.other.Loop); len(got) != 4 {
				t.Errorf("the other member owns %v, want all", got)
			}
			r := startLoop(t, after)
			time.Sleep(30 * time.Second)
			if got := owned(after); len(got) != 2 {
				t.Errorf("the loop owns %v, want two", got)
			}
			b.produce(10, 0, 1, 2, 3)
			p.finish(r, p.other)
		})
	})
}

// TestPlaceThatIsHandedOnUnused checks that a loop that stops before it has joined hands on what it has taken over.
func TestPlaceThatIsHandedOnUnused(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
			p := startPair(t, b, protocol)
			between, after := newLoop(t, p.options("between")), newLoop(t, p.options("after"))
			p.before.HandOver(between, t.Context(), "")
			p.before.stop()
			p.noted("before", "other")
			between.HandOver(after, t.Context(), "")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := between.Run(ctx); err != nil {
				t.Fatal(err)
			}
			r := startLoop(t, after)
			time.Sleep(30 * time.Second)
			p.inPlace(after)
			p.finish(r, p.other)
		})
	})
}

// TestPlaceThatNobodyUses checks that a loop which is stopped after it has taken over a place, and before it has joined, leaves the group: the
// others need not wait for the end of its session.
func TestPlaceThatNobodyUses(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
			p := startPair(t, b, protocol)
			after := newLoop(t, p.options("after"))
			p.before.HandOver(after, t.Context(), "after")
			p.before.stop()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := after.Run(ctx); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second) // less than the session
			if got := owned(p.other.Loop); len(got) != 4 {
				t.Errorf("the other member owns %v, want all", got)
			}
			b.produce(10, 0, 1, 2, 3)
			p.finish(p.other)
		})
	})
}

// TestRealHandOver hands a member's place over again and again, on a real broker. The group must not move a partition.
func TestRealHandOver(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		brokers, topic := testenv.Kafka(t), testenv.Name(t)
		admin := realClient(t, brokers)
		const partitions = 6
		createReal(t, admin, topic, partitions)
		t.Cleanup(func() { deleteReal(t, admin, topic, topic+".dead") })
		s := newStore()
		stop := feed(t, realClient(t, brokers), topic, partitions)
		options := realLoop(t, brokers, topic, s, protocol)
		first := start(t, options)
		others, moved := options, atomic.Bool{}
		others.Hooks.Assigned = func(AssignedInfo) { moved.Store(true) }
		second := start(t, others)
		eventually(t, "two share", func() bool { return len(first.assigned()) == 3 && len(second.assigned()) == 3 })
		ours, theirs, id := owned(first.Loop), owned(second.Loop), first.Member()
		moved.Store(false)
		for range 5 {
			next := newLoop(t, options)
			first.HandOver(next, t.Context(), "next")
			first.stop()
			first = startLoop(t, next)
			eventually(t, "the next one has its place", func() bool { return slices.Equal(owned(next), ours) && next.Member() == id })
		}
		if protocol == Consumer && moved.Load() || !slices.Equal(owned(second.Loop), theirs) {
			t.Errorf("the other member had %v, and was assigned more; it has %v", theirs, owned(second.Loop))
		}
		each := stop()
		settledAll(t, first, topic, partitions)
		first.stop()
		second.stop()
		s.wantOnce(t, partitions*each)
	})
}

// TestStaticMemberLeavesForGood checks that a static member whose loop nobody follows, or only one that speaks the other protocol, leaves its
// group, so that the other member gets its partitions within the session. One that just stops keeps them.
func TestStaticMemberLeavesForGood(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		for _, c := range []struct {
			name string
			why  func(l *Loop, o Options)
			left bool
		}{
			{"its pipeline is removed", func(l *Loop, _ Options) { l.Resign() }, true},
			{"another protocol", func(l *Loop, o Options) {
				if o.GroupProtocol = Classic; protocol == Classic {
					o.GroupProtocol = Consumer
				}
				l.HandOver(newLoop(t, o), context.Background(), "")
			}, true},
			{"another protocol, as the process stops", func(l *Loop, o Options) {
				if o.GroupProtocol = Auto; protocol == Consumer {
					o.GroupProtocol = Classic
				}
				ended, end := context.WithCancel(context.Background())
				end()
				l.HandOver(newLoop(t, o), ended, "")
			}, true},
			{"the process stops", func(*Loop, Options) {}, false},
			{"the process stops during a reload", func(l *Loop, o Options) {
				ended, end := context.WithCancel(context.Background())
				end()
				l.HandOver(newLoop(t, o), ended, "")
			}, false},
		} {
			t.Run(c.name, func(t *testing.T) {
				inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
					b.protocol = protocol
					b.produce(10, 0, 1, 2, 3)
					s := newStore()
					var n atomic.Int64
					other := start(t, b.member(s, "pod-0", &n))
					o := b.member(s, "pod-1", &n)
					l := start(t, o)
					time.Sleep(30 * time.Second)
					if len(l.assigned()) != 2 {
						t.Fatalf("partitions %v, expected two", l.assigned())
					}
					leaves := b.watchLeaves()
					c.why(l.Loop, o)
					l.stop()
					want := map[bool][]string{true: {"for good: " + l.Member() + " pod-1"}}[c.left]
					if protocol == Consumer && !c.left {
						want = []string{"for a while: " + l.Member() + " pod-1"}
					}
					if got := leaves(); !slices.Equal(got, want) {
						t.Errorf("it leaves as %q, want %q", got, want)
					}
					b.produce(10, 0, 1, 2, 3)
					time.Sleep(20 * time.Second) // less than the session
					if got, want := len(other.assigned()), map[bool]int{true: 4, false: 2}[c.left]; got != want {
						t.Errorf("the other member owns %d partitions, want %d", got, want)
					}
					if !c.left {
						again := start(t, o)
						defer again.stop()
						time.Sleep(20 * time.Second)
					}
					other.stop()
					b.wantCommitted(b.sent)
					s.wantOnce(t, 80)
				})
			})
		}
	})
}

// watchLeaves notes who leaves the group from now on, by either protocol.
func (b *fakeKafka) watchLeaves() (leaves func() []string) {
	var mu sync.Mutex
	var all []string
	note := func(how, member string, instance *string) {
		mu.Lock()
		defer mu.Unlock()
		if instance == nil {
			instance = new("nobody")
		}
		all = append(all, how+": "+member+" "+*instance)
	}
	b.ControlKey(int16(kmsg.LeaveGroup), func(q kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		for _, m := range q.(*kmsg.LeaveGroupRequest).Members {
			note("for good", m.MemberID, m.InstanceID)
		}
		return nil, nil, false
	})
	b.ControlKey(int16(kmsg.ConsumerGroupHeartbeat), func(q kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		switch q := q.(*kmsg.ConsumerGroupHeartbeatRequest); q.MemberEpoch {
		case -1:
			note("for good", q.MemberID, q.InstanceID)
		case -2:
			note("for a while", q.MemberID, q.InstanceID)
		}
		return nil, nil, false
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}
