package ingest

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A store that hangs for ten minutes neither costs us our partitions nor loses a record.
func TestSlowStoreIsNotThrownOutOfTheGroup(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.produce(100, 0, 1)
		s := newStore()
		stuck := make(chan struct{})
		s.gate = func(int) <-chan struct{} { return stuck }
		o := b.defaults(s)
		var generations atomic.Int64
		o.Hooks.Assigned = func(AssignedInfo) { generations.Add(1) }
		l := start(t, o)
		time.Sleep(10 * time.Minute)
		status := l.Status()
		if problems := status.Problems(time.Now(), time.Minute); len(problems) != 2 {
			t.Errorf("problems %q, expected both partitions", problems)
		}
		close(stuck)
		time.Sleep(2 * time.Second)
		if problems := l.Status().Problems(time.Now(), time.Minute); len(problems) != 0 {
			t.Errorf("problems %q after the store came back", problems)
		}
		l.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 200)
		if generations.Load() != 1 {
			t.Errorf("%d generations in ten minutes, expected 1", generations.Load())
		}
	})
}

// An outage with retry verdicts: pauses grow to RetryMax, nothing is given up, nothing is committed.
func TestStoreOutageIsRetriedForAsLongAsItLasts(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(100, 0)
		s, down := newDownStore()
		l := start(t, b.defaults(s))
		time.Sleep(30 * time.Minute)
		if n := s.submits(); n < 30*60/15 || n > 30*60*2/15+12 {
			t.Errorf("%d attempts in 30 minutes; the pause is 7.5 s to 15 s", n)
		}
		if got := b.committedOffset(0); got != 0 {
			t.Errorf("committed %d during the outage", got)
		}
		down.Store(false)
		time.Sleep(20 * time.Second)
		l.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 100)
	})
}

// At a revoke, a flight that does not settle is abandoned after a third of the timeouts, and the new owner gets its records.
func TestRevokeIsBoundedThoughTheStoreHangs(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0, 1)
		hung, well := newStore(), newStore()
		never := make(chan struct{})
		defer close(never)
		hung.gate = func(int) <-chan struct{} { return never }
		o := b.defaults(hung)
		o.SessionTimeout, o.RebalanceTimeout = 30*time.Second, 45*time.Second
		var revoked, given atomic.Int64
		var at atomic.Pointer[time.Time]
		o.Hooks.Revoked = func(i RevokedInfo) {
			now := time.Now()
			at.CompareAndSwap(nil, &now)
			given.Add(int64(i.Abandoned))
			revoked.Add(1)
		}
		first := start(t, o)
		time.Sleep(10 * time.Second)
		before := time.Now()
		second := start(t, b.defaults(well))
		time.Sleep(30 * time.Second)
		if at.Load() == nil {
			t.Fatal("nothing was revoked")
		}
		if took := at.Load().Sub(before); revoked.Load() != 1 || took < 10*time.Second || took > 14*time.Second {
			t.Errorf("the partitions were given up after %v, expected 10 s after the next heartbeat", took)
		}
		if given.Load() != 2 {
			t.Errorf("%d flights abandoned, expected 2", given.Load())
		}
		if n, _ := well.count(); n != 10 || len(first.Status().Partitions) != 1 {
			t.Errorf("the new owner has %d records, expected one partition's 10", n)
		}
		second.stop()
		first.cancel()
		time.Sleep(time.Minute)
	})
}

// A stop whose store hangs ends after StopTimeout, without a commit, and without being thrown out of the group earlier.
func TestStopIsBoundedThoughTheStoreHangs(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		s := newStore()
		never := make(chan struct{})
		defer close(never)
		s.gate = func(int) <-chan struct{} { return never }
		o := b.defaults(s)
		o.StopTimeout = 3 * time.Minute
		l := start(t, o)
		time.Sleep(10 * time.Second)
		began := time.Now()
		l.stop()
		if took := time.Since(began); took < 3*time.Minute || took > 3*time.Minute+time.Second {
			t.Errorf("stopped after %v, expected 3 min", took)
		}
		if got := b.committedOffset(0); got != 0 {
			t.Errorf("committed %d though nothing was settled", got)
		}
	})
}

// A stop settles pending flights, however slow, and redelivers nothing.
func TestStopWaitsForASlowStore(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		s, slow := newStore(), make(chan struct{})
		s.gate = func(int) <-chan struct{} { return slow }
		l := start(t, b.defaults(s))
		time.Sleep(10 * time.Second)
		time.AfterFunc(20*time.Second, func() { close(slow) })
		l.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 10)
	})
}

// Events that wait for a retry when a stop begins are retried, for as long as the stop may take.
func TestStopSettlesWhatWaitsToBeTriedAgain(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		s, down := newDownStore()
		l := start(t, b.defaults(s))
		time.Sleep(time.Minute)
		time.AfterFunc(5*time.Second, func() { down.Store(false) })
		l.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 10)
	})
}

func TestNoBrokerForAnHour(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		s := newStore()
		o := b.defaults(s)
		var down atomic.Bool
		o.Kafka.Dial = unless(&down, o.Kafka.Dial)
		l := start(t, o)
		time.Sleep(time.Minute)
		down.Store(true)
		l.cluster.Cut()
		time.Sleep(time.Hour)
		b.produce(10, 0)
		if s.holds(0, 11) {
			t.Error("written without a broker")
		}
		if p := l.Status().Problems(time.Now(), time.Minute); !slices.ContainsFunc(p, func(s string) bool {
			return strings.HasPrefix(s, "not a member of its group for 59m") && strings.Contains(s, "connection refused")
		}) {
			t.Errorf("problems after an hour without a broker: %q", p)
		}
		down.Store(false)
		time.Sleep(time.Minute)
		if s := l.Status(); !s.Joined || !s.Apart.IsZero() || s.Detail != "" || len(s.Problems(time.Now(), time.Second)) > 0 {
			t.Errorf("status once the broker is back: %+v", s)
		}
		l.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 20)
	})
}

// The store is away for ten minutes while records arrive at full speed: memory stays within the budget, nothing is committed, and
// afterwards everything is written.
func TestBudgetHoldsThroughAnOutageOfMinutes(t *testing.T) {
	inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
		b.produce(1000, 0, 1, 2, 3)
		s := newStore()
		var down atomic.Bool
		s.decide = unavailableWhile(&down)
		o := b.defaults(s)
		o.MaxFetchBytes, o.MaxBatchRecords, o.Budget = 64<<10, 100, NewBudget(512<<10)
		l := start(t, o)
		time.Sleep(10 * time.Second)
		b.wantCommitted(b.sent)
		down.Store(true)
		worst := int64(0)
		for range 60 {
			b.produce(500, 0, 1, 2, 3)
			for range 100 {
				time.Sleep(100 * time.Millisecond)
				worst = max(worst, o.Budget.InUse())
			}
		}
		if worst > o.Budget.Size() || worst < o.Budget.Size()/2 {
			t.Errorf("%d bytes in use of %d", worst, o.Budget.Size())
		}
		for p := range 4 {
			if got := b.committedOffset(p); got != 1000 {
				t.Errorf("partition %d: committed %d during the outage, expected 1000 as before", p, got)
			}
		}
		down.Store(false)
		time.Sleep(time.Minute)
		b.wantCommitted(b.sent)
		l.stop()
		s.wantOnce(t, 4*31_000)
		if left := o.Budget.InUse(); left != 0 {
			t.Errorf("%d bytes in use at the end", left)
		}
	})
}

func TestRateIsKept(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.produce(3000, 0, 1)
		s := newStore()
		o := b.defaults(s)
		o.RecordsPerSecond, o.MaxBatchRecords = 100, 10
		l := start(t, o)
		time.Sleep(30 * time.Second)
		if n, _ := s.count(); n < 2900 || n > 3010 {
			t.Errorf("%d records in 30 s, expected 100 a second", n)
		}
		l.stop()
		n, _ := s.count()
		s.wantOnce(t, n)
		if got := b.committedOffset(0) + b.committedOffset(1); got != int64(n) {
			t.Errorf("%d committed of %d written", got, n)
		}
	})
}
