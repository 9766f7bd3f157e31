package ingest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestALoopIsAloneUntilItGivesPartitionsAway: a loop is not alone while another member has any partitions, starting before it gets them.
// Being alone again afterwards is another term.
func TestALoopIsAloneUntilItGivesPartitionsAway(t *testing.T) {
	for _, protocol := range []GroupProtocol{Classic, Consumer} {
		t.Run(string(protocol), func(t *testing.T) {
			inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
				b.protocol = protocol
				s := newStore()
				first := start(t, b.defaults(s))
				time.Sleep(20 * time.Second)
				was := first.Alone()
				time.Sleep(30 * time.Second) // several heartbeats, which start no new term
				if was == 0 || first.Alone() != was {
					t.Fatalf("the only member is alone by %d, then %d", was, first.Alone())
				}
				var both atomic.Bool
				o := b.defaults(s)
				o.Hooks.Assigned = func(i AssignedInfo) {
					if len(i.Partitions) > 0 && first.Alone() != 0 {
						both.Store(true)
					}
				}
				second := start(t, o)
				time.Sleep(time.Minute)
				if len(second.assigned()) != 2 || both.Load() || first.Alone() != 0 || second.Alone() != 0 {
					t.Errorf("with two members: %v, %d and %d", both.Load(), first.Alone(), second.Alone())
				}
				second.stop()
				time.Sleep(time.Minute)
				if now := first.Alone(); now == 0 || now == was {
					t.Errorf("alone again by %d, before by %d", now, was)
				}
				first.stop()
				if first.Alone() != 0 {
					t.Error("alone after its end")
				}
			})
		})
	}
}

// TestAFencedLoopIsNotAloneWhileItDrains: a static member that another process has replaced says so as soon as it hears of it, by a
// heartbeat or by a commit, and not only once its store has settled what is pending.
func TestAFencedLoopIsNotAloneWhileItDrains(t *testing.T) {
	for _, c := range []struct {
		by     string
		beat   time.Duration
		stuck  bool          // the store never answers
		within time.Duration // after the other has joined
	}{
		{"heartbeat", 3 * time.Second, true, 4 * time.Second},
		{"commit", 10 * time.Second, false, 4 * time.Second},
	} {
		t.Run(c.by, func(t *testing.T) {
			inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
				b.produce(10, 0, 1)
				s, gate := newStore(), make(chan struct{})
				s.gate = func(int) <-chan struct{} { return gate }
				o := b.member(s, "pod-0", new(atomic.Int64))
				o.Heartbeat = c.beat
				first, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- first.Run(context.Background()) }()
				time.Sleep(11 * time.Second)
				if first.Alone() == 0 {
					t.Fatal("the only member is not alone")
				}
				second := start(t, b.member(newStore(), "pod-0", new(atomic.Int64)))
				if !c.stuck {
					close(gate)
				}
				time.Sleep(c.within)
				if status := first.Status(); first.Alone() != 0 || status.Joined || !strings.Contains(status.Detail, `another process joined with instance id "pod-0"`) {
					t.Errorf("%v after the other has joined: alone by %d, joined %v, detail %q", c.within, first.Alone(), status.Joined, status.Detail)
				}
				if second.Alone() == 0 {
					t.Error("the other is not alone")
				}
				time.Sleep(20 * time.Second)
				select {
				case <-ended:
				default:
					t.Error("the first goes on")
				}
				if c.stuck {
					close(gate)
				}
				second.stop()
			})
		})
	}
}
