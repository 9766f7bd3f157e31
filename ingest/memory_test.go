package ingest

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestLoopsShareTheirMemory runs two loops of one memory. The first, whose store hangs, comes to hold more than an equal share while the
// second needs nothing. The second writes everything nevertheless as soon as there is something to write, the two never hold more than
// there is, and what each is guaranteed follows the loops that run.
func TestLoopsShareTheirMemory(t *testing.T) {
	inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
		const share = 512 << 10
		memory := NewMemory(2 * share)
		hung, well := newStore(), newStore()
		stuck := make(chan struct{})
		hung.gate = func(int) <-chan struct{} { return stuck }
		options := func(s *store, group string) Options {
			o := b.defaults(s)
			o.Group, o.MaxFetchBytes, o.MaxBatchRecords, o.Window, o.Budget = group, 64<<10, 100, 1000, memory.Budget(share)
			return o
		}
		o, second := options(hung, group), options(well, group+".too")
		worst := int64(0)
		watch := func(during time.Duration) {
			for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				synctest.Wait() // or bytes move from one to the other between two looks
				worst = max(worst, o.Budget.InUse()+second.Budget.InUse())
			}
		}
		produce := func(batches int) {
			for range batches { // a broker sends batches whole, so large ones would exceed every share
				b.produce(100, 0, 1, 2, 3)
				time.Sleep(20 * time.Millisecond) // and it sends all that it has, which may be more than the first loop still has room for
			}
		}
		first, other := start(t, o), start(t, second)
		watch(5 * time.Second)
		if u, too := o.Budget.Usage(), second.Budget.Usage(); u.Guaranteed != 5*share/8 || too.Guaranteed != 5*share/8 {
			t.Errorf("of two loops one: %+v, the other: %+v", u, too)
		}
		produce(100)
		watch(20 * time.Second)
		if u := o.Budget.holds.Usage(); u.Used <= share*3/4 {
			t.Errorf("records of a loop that needs all it can get: %+v; an equal share is %d", u, share*3/4)
		}
		if n, _ := well.count(); n != 40_000 {
			t.Errorf("%d records written by the loop whose store is well", n)
		}
		produce(50)
		watch(20 * time.Second)
		if n, _ := well.count(); n != 60_000 {
			t.Errorf("%d records written while the other loop holds what it can get", n)
		}
		if worst > 2*share {
			t.Errorf("%d bytes in use of %d", worst, 2*share)
		}
		close(stuck)
		watch(20 * time.Second)
		b.wantCommitted(b.sent)
		first.stop()
		if u := second.Budget.Usage(); u.Guaranteed != 5*2*share/8 || u.Limit != 2*share {
			t.Errorf("the only loop that runs: %+v", u)
		}
		other.stop()
		hung.wantOnce(t, 60_000)
		well.wantOnce(t, 60_000)
		if left := o.Budget.InUse() + second.Budget.InUse(); left != 0 {
			t.Errorf("%d bytes in use at the end", left)
		}
	})
}
