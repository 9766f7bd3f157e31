package simulate

import (
	"context"
	"math/rand/v2"
	"time"
)

// stopInTheMiddle stops all processes while records arrive. They commit what they have submitted, so nothing is redelivered: invariant 9.
func (w *World) stopInTheMiddle(ctx context.Context, rng *rand.Rand) bool {
	w.interrupt(ctx, rng, func(s *slot) { s.stop() }, func(submitted, committed int64, p int) {
		if submitted > committed {
			w.ledger.find("9: partition %d: after a graceful stop %d is committed and %d was submitted", p, committed, submitted)
		}
	})
	return w.settles(ctx, group, catchUp)
}

// killInTheMiddle kills all processes while records arrive. What is redelivered was pending, or settled since the last commits: invariant
// 9.
func (w *World) killInTheMiddle(ctx context.Context, rng *rand.Rand) bool {
	window := int64(0)
	for _, s := range w.slots {
		file := s.reads()
		window = max(window, int64(file.window*file.maxBatch))
	}
	w.interrupt(ctx, rng, func(s *slot) { s.kill() }, func(submitted, committed int64, p int) {
		if recent := w.ledger.since(p, time.Now().Add(-2*commitEvery)); submitted-committed > window+recent {
			w.ledger.find("9: partition %d: after a kill %d is committed and %d was submitted; the window is %d, and %d came since the last commits",
				p, committed, submitted, window, recent)
		}
		if w.ledger.writing(p, submitted, committed) > 0 {
			w.ledger.find("9: partition %d: %d is committed and only %d submitted", p, committed, submitted)
		}
	})
	return w.settles(ctx, group, catchUp)
}

// interrupt lets records arrive, ends all processes in the middle of it, and starts them again once ended has checked what each partition's
// processes had submitted and committed.
func (w *World) interrupt(ctx context.Context, rng *rand.Rand, end func(*slot), ended func(submitted, committed int64, p int)) {
	some := *w.plan
	some.Records, some.Burst, some.Poison, some.Nulls = 60, 4, 0, 0
	start := time.Now()
	records := input(rng, &some, start, 3*time.Second)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.produce(ctx, records, start)
	}()
	time.Sleep(time.Duration(rng.Int64N(int64(3 * time.Second))))
	w.log.Debug("the end of all processes")
	for _, s := range w.slots {
		end(s)
	}
	submitted, committed := w.submitted(), w.kafka.committed(group, w.plan.Partitions)
	for p := range submitted {
		ended(submitted[p], committed[p], p)
	}
	<-done
	for _, s := range w.slots {
		s.start()
	}
}

// since returns the number of records of a partition that arrived after a time.
func (l *Ledger) since(p int, at time.Time) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := int64(0)
	for _, r := range l.records[p] {
		if r.at.After(at) {
			n++
		}
	}
	return n
}
