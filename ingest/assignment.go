package ingest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// assignment is the partitions that are ours for a while, and what has been committed of them. Only its committer touches
// committed and doubt.
type assignment struct {
	*runner
	generation int
	partitions []*partition
	commit     func(offsets map[int]int64, rejected map[int]int) error // fenced: fails when the partitions are no longer ours
	committed  map[int]int64
	rejected   map[int]int // as committed beside them
	doubt      time.Time   // when a commit failed last
}

// run works on the partitions until all are done, revoked ends (they are taken away) or stop ends (we want to go). It then
// settles what is out for a bounded time and commits. When it returns, every goroutine of it has ended.
func (a *assignment) run(revoked, stop context.Context) {
	work, stopWork := context.WithCancel(revoked)
	drain, abandon := context.WithCancel(context.Background())
	var workers, drainer sync.WaitGroup
	defer drainer.Wait()
	defer abandon()
	defer stopWork()
	defer context.AfterFunc(stop, stopWork)()
	for _, p := range a.partitions {
		workers.Go(func() { p.run(work, drain) })
	}
	drainer.Go(func() {
		<-work.Done()
		a.abandonAtDeadline(revoked, stop, drain, abandon)
	})
	done := make(chan struct{})
	drainer.Go(func() {
		defer close(done)
		workers.Wait()
	})
	a.commitUntil(done)
	a.commitNow(true)
	a.Hooks.Revoked(a.generation, a.ids(), a.abandoned())
}

// abandonAtDeadline gives up what is still out StopTimeout after a stop, or drainTime after the partitions were taken away. Until then it hurries
// the writer.
func (a *assignment) abandonAtDeadline(revoked, stop, drain context.Context, abandon func()) {
	for _, p := range a.partitions {
		p.progress.state(Draining, "", nil)
	}
	deadline := time.NewTimer(a.drainTime())
	defer deadline.Stop()
	if stop.Err() != nil {
		deadline.Reset(a.StopTimeout)
	}
	tick := time.NewTicker(hurryEvery)
	defer tick.Stop()
	taken := revoked.Done()
	for {
		if h, ok := a.Writer.(Hurrier); ok {
			h.Hurry()
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			abandon()
			return
		case <-drain.Done():
			return
		case <-taken:
			taken = nil
			if a.StopTimeout > a.drainTime() {
				deadline.Reset(a.drainTime())
			}
		}
	}
}

// commitUntil commits at every interval, until done.
func (a *assignment) commitUntil(done <-chan struct{}) {
	tick := time.NewTicker(a.CommitInterval)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			a.commitNow(false)
		}
	}
}

// doubtful is for how long commits are repeated after one that failed: it may have been sent all the same, and arrive after later
// ones. The coordinator takes what comes last, and would go back with it.
const doubtful = 30 * time.Second

// commitNow commits the watermarks that have risen above what was committed. Only the goroutine of run calls it.
//
// The starts of a new group's partitions are committed together (see startOf), so it waits for the last of them, unless it
// is called for the last time.
func (a *assignment) commitNow(last bool) {
	offsets, rejected := map[int]int64{}, map[int]int{}
	again := time.Since(a.doubt) < doubtful
	for _, p := range a.partitions {
		if a.fresh.Load() && p.mark.edge() < 0 && !last {
			return
		}
		if p.rewound.Swap(false) {
			delete(a.committed, p.id)
		}
		before, ok := a.committed[p.id]
		rejects := a.rejects.of(p.id)
		if edge := p.mark.edge(); edge >= 0 && (!ok || edge > before || again || rejects != a.rejected[p.id]) {
			offsets[p.id], rejected[p.id] = edge, rejects
		}
	}
	if len(offsets) == 0 {
		return
	}
	began := time.Now()
	if err := a.commit(offsets, rejected); err != nil {
		a.doubt = time.Now()
		a.Hooks.CommitFailed(err)
		a.Logger.Warn("commit failed", "topic", a.Topic, "group", a.Group, "error", err)
		return
	}
	a.fresh.Store(false)
	a.Hooks.Took(context.Background(), 0, StepCommit, time.Since(began))
	for _, p := range a.partitions {
		if offset, ok := offsets[p.id]; ok {
			a.committed[p.id], a.rejected[p.id] = offset, rejected[p.id]
			p.progress.committed(offset)
			a.Hooks.Committed(p.id, offset)
		}
	}
}

func (a *assignment) ids() []int {
	ids := make([]int, len(a.partitions))
	for i, p := range a.partitions {
		ids[i] = p.id
	}
	return ids
}

func (a *assignment) status() Status {
	s := Status{Generation: a.generation}
	for _, p := range a.partitions {
		status := p.progress.snapshot()
		status.oldest, status.out = p.mark.oldest()
		s.Partitions = append(s.Partitions, status)
	}
	return s
}

func (a *assignment) abandoned() int {
	n := int64(0)
	for _, p := range a.partitions {
		n += p.abandoned.Load()
	}
	return int(n)
}

func sortPartitions(p []*partition) {
	slices.SortFunc(p, func(a, b *partition) int { return cmp.Compare(a.id, b.id) })
}
