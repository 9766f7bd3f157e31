package ingest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"brine/ingest/internal/note"
)

// assignment is a set of partitions that this process owns for a while, with what it has committed of them. Only its committer touches
// committed and doubt.
type assignment struct {
	*runner
	loop       *Loop // nil in a replay
	generation int
	mu         sync.Mutex                                                 // guards the field; the slice itself is replaced, never changed
	partitions []*partition                                               // read through parts
	commit     func(offsets map[int]int64, notes map[int]note.Note) error // fenced: fails when we no longer own the partitions
	committed  map[int]int64
	notes      map[int]note.Note // committed with them, without the topic
	doubt      time.Time         // when a commit last failed
	soon       soon              // asks for a commit before the interval has passed
	successor  string            // who reads once this loop has stopped; see Loop.HandOver
}

// soon asks for a commit; one that is asked for already is enough.
type soon chan struct{}

func newSoon() soon { return make(soon, 1) }

func (s soon) ask() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// run works on the partitions until all are done, revoked ends (they are taken away) or stop ends (we want to leave). It then settles what
// is pending, for a bounded time, and commits. When it returns, all of its goroutines have ended.
func (a *assignment) run(revoked, stop context.Context) {
	work, stopWork := context.WithCancel(revoked)
	drain, abandon := context.WithCancel(context.Background())
	var workers, drainer sync.WaitGroup
	defer drainer.Wait()
	defer abandon()
	defer stopWork()
	defer context.AfterFunc(stop, stopWork)()
	for _, p := range a.parts() {
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
	a.commitUntil(done, func() { _ = a.commitNow(false) })
	stopWork() // also when all are done: the last commit has a deadline then, too
	a.commitLast(drain, stop.Err() != nil)
	a.Hooks.Revoked(RevokedInfo{Generation: a.generation, Partitions: a.ids(), Abandoned: abandoned(a.parts())})
}

// hurryEvery is how often the writer is hurried, and the longest pause of the loop, once time is short.
const hurryEvery = time.Second

// abandonAtDeadline gives up what is still pending StopTimeout after a stop, or drainTime after the partitions were taken away, or at once
// if a replay has lost its patience. Until then it hurries the writer.
func (a *assignment) abandonAtDeadline(revoked, stop, drain context.Context, abandon func()) {
	for _, p := range a.parts() {
		p.progress.state(Draining, "", nil)
	}
	deadline := time.NewTimer(a.drainTime())
	defer deadline.Stop()
	switch {
	case gaveUp(stop):
		deadline.Reset(0)
	case stop.Err() != nil:
		deadline.Reset(a.StopTimeout)
	}
	tick := time.NewTicker(hurryEvery)
	defer tick.Stop()
	taken := revoked.Done()
	for {
		a.Writer.Hurry()
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

// assignments are the assignments of one generation, one per topic.
type assignments []*assignment

// run runs all of them; see assignment.run.
func (all assignments) run(revoked, stop context.Context) {
	var topics sync.WaitGroup
	for _, a := range all {
		topics.Go(func() { a.run(revoked, stop) })
	}
	topics.Wait()
}

func (all assignments) ids() []int {
	ids := []int{}
	for _, a := range all {
		ids = append(ids, a.ids()...)
	}
	return ids
}

func (all assignments) status() (s Status) {
	for _, a := range all {
		of := a.status()
		s.Generation = of.Generation
		s.Partitions = append(s.Partitions, of.Partitions...)
	}
	return s
}

func (a *assignment) ids() []int {
	return idsOf(a.parts())
}

func (a *assignment) status() Status {
	s := Status{Generation: a.generation}
	for _, p := range a.parts() {
		status := p.progress.snapshot()
		status.oldest, status.out = p.mark.oldest()
		status.Reach = p.reach()
		s.Partitions = append(s.Partitions, status)
	}
	return s
}

func idsOf(partitions []*partition) []int {
	ids := make([]int, len(partitions))
	for i, p := range partitions {
		ids[i] = p.id
	}
	return ids
}

func abandoned(partitions []*partition) int {
	n := int64(0)
	for _, p := range partitions {
		n += p.abandoned.Load()
	}
	return int(n)
}

// parts returns the partitions that we own now.
func (a *assignment) parts() []*partition {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.partitions
}

func sortPartitions(p []*partition) {
	slices.SortFunc(p, func(a, b *partition) int { return cmp.Compare(a.id, b.id) })
}
