package ingest

import (
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
