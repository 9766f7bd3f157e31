package ingest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/event"
)

// A store is away for five minutes while as much arrives as it can take: the backlog is then written as fast as the store can, including
// the pause before the first attempt.
func TestCatchesUpAtFullRateAfterAnOutage(t *testing.T) {
	inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
		const batch, service, outage = 5, 5 * time.Millisecond, 5 * time.Minute // one batch at a time: 1,000 records/s
		s := newStore()
		var mu sync.Mutex
		var free time.Time // when the store has finished what it was given
		s.gate = func(int) <-chan struct{} {
			mu.Lock()
			defer mu.Unlock()
			if now := time.Now(); free.Before(now) {
				free = now
			}
			free = free.Add(service)
			taken := make(chan struct{})
			time.AfterFunc(time.Until(free), func() { close(taken) })
			return taken
		}
		var down atomic.Bool
		var written atomic.Int64
		decide := unavailableWhile(&down)
		s.decide = func(call int, batch []place) ([]event.Failure, error) {
			failures, err := decide(call, batch)
			written.Add(int64(len(batch) - len(failures)))
			return failures, err
		}
		o := b.defaults(s)
		o.MaxFetchBytes, o.MaxBatchRecords, o.Budget = 64<<10, batch, NewBudget(512<<10)
		l := start(t, o)
		rate := func(backlog int) float64 { // records per second, until all are written
			began := time.Now()
			for until := written.Load() + int64(backlog); written.Load() < until; {
				time.Sleep(100 * time.Millisecond)
			}
			return float64(backlog) / time.Since(began).Seconds()
		}
		time.Sleep(10 * time.Second) // until it has joined its group
		b.produce(5000, 0, 1, 2, 3)
		most := rate(20_000)
		down.Store(true)
		second, worst := int(most), int64(0)
		for range outage / time.Second {
			b.produce(second/4, 0, 1, 2, 3)
			for range 10 {
				time.Sleep(100 * time.Millisecond)
				worst = max(worst, o.Budget.InUse())
			}
		}
		down.Store(false)
		again := rate(second / 4 * 4 * int(outage/time.Second))
		t.Logf("%.0f records a second, after the outage %.0f; at most %d of %d bytes in use", most, again, worst, o.Budget.Size())
		if again < 0.95*most || most < 0.95*float64(batch)*float64(time.Second/service) {
			t.Errorf("%.0f records a second before the outage, %.0f after it; the store can take %d", most, again, batch*int(time.Second/service))
		}
		if worst > o.Budget.Size() || worst < o.Budget.Size()/2 {
			t.Errorf("%d bytes in use of %d", worst, o.Budget.Size())
		}
		time.Sleep(2 * time.Second)
		b.wantCommitted(b.sent)
		l.stop()
	})
}
