package ingest

import (
	"sync/atomic"
	"testing"
	"time"
)

// A member for whom there is no partition stays one, and costs the group no rebalances; when another leaves it takes over.
func TestMemberWithoutPartitionsWaitsForOne(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *broker) {
		b.produce(10, 0)
		s := newStore()
		var generations atomic.Int64
		o := b.defaults(s)
		o.Hooks.Assigned = func(int, []int) { generations.Add(1) }
		first := start(t, o)
		time.Sleep(time.Minute)
		second := start(t, o)
		time.Sleep(10 * time.Minute)
		if n := generations.Load(); n > 4 {
			t.Errorf("%d assignments of two members in ten minutes, expected one for each at most twice", n)
		}
		first.stop()
		time.Sleep(time.Minute)
		b.produce(10, 0)
		time.Sleep(10 * time.Second)
		second.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 20)
	})
}
