package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"brine/ingest/internal/broker"
	"brine/ingest/internal/note"
)

// consumeByBrokers is a member by the consumer protocol: the brokers move partitions one by one, and no other partition stops meanwhile.
func (l *Loop) consumeByBrokers(ctx context.Context) error {
	m, err := l.cluster.Consumer(*l.joining())
	if err != nil {
		return err
	}
	h := &keeper{Loop: l, member: m, stop: ctx}
	err = m.Run(ctx, h)
	h.end()
	switch {
	case errors.Is(err, broker.ErrNoConsumers):
		return err
	case err != nil:
		return l.refusal(err)
	}
	return nil
}

// keeper works on what the group assigns, topic by topic. Everything except a release runs on the member's goroutine.
type keeper struct {
	*Loop
	member *broker.Consumer
	stop   context.Context
	topics []*held
	reads  map[string]broker.Topic // what we subscribe to, even where we hold nothing of it
	going  sync.WaitGroup          // releases

	ours, all int // numbers of partitions, as the pace last got them
}

// Joined implements broker.Holder.
func (h *keeper) Joined(epoch int, topics map[string]broker.Topic) {
	id := h.member.ID()
	h.mu.Lock()
	h.epoch, h.id = epoch, id
	h.mu.Unlock()
	h.reads = topics
	h.changed()
}

// Parted implements broker.Holder.
func (h *keeper) Parted(why error) {
	h.parted()
	h.outside(why)
}

// Take implements broker.Holder.
func (h *keeper) Take(t *broker.Tenure, of broker.Held) {
	to := h.of(of)
	if to == nil {
		to = h.hold(t, of)
	}
	h.Hooks.Assigned(AssignedInfo{Generation: to.generation, Partitions: of.Partitions}) // before Status reports it
	to.take(of.Partitions)
	h.changed()
}

// of returns what is held of a topic, or nil if nothing has been held yet.
func (h *keeper) of(of broker.Held) *held {
	if i := slices.IndexFunc(h.topics, func(t *held) bool { return t.Topic == of.Name && t.topic.Is(of.Topic) }); i >= 0 {
		return h.topics[i]
	}
	return nil
}

// hold starts to hold partitions of a topic.
func (h *keeper) hold(t *broker.Tenure, of broker.Held) *held {
	r := h.topic(of.Name)
	h.mu.Lock()
	generation := h.epoch
	h.mu.Unlock()
	to := &held{assignment: &assignment{runner: r, loop: h.Loop, generation: generation, committed: map[int]int64{},
		notes: map[int]note.Note{}, soon: newSoon()}, topic: of.Topic, workers: map[int]*worker{}, done: make(chan struct{}),
		committing: make(turn, 1)}
	to.commit = func(offsets map[int]int64, notes map[int]note.Note) error {
		return h.member.Commit(t, r.Topic, noted(offsets, notes, of.Topic))
	}
	h.topics = append(h.topics, to)
	to.committer.Go(func() { to.commitUntil(to.done, to.commitHeld) })
	return to
}

// changed passes what is held, and the number of all partitions, to Status and the pace.
func (h *keeper) changed() {
	all, partitions, holds := assignments{}, 0, map[string]bool{}
	for _, t := range h.topics {
		all = append(all, t.assignment)
		holds[t.Topic] = true
		if _, reads := h.reads[t.Topic]; !reads { // it is gone, or was just created
			partitions += t.topic.Partitions
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.reads)) {
		partitions += h.reads[name].Partitions
		if !holds[name] {
			all = append(all, &assignment{runner: h.topic(name)})
		}
	}
	if ours := len(all.ids()); ours != h.ours || partitions != h.all {
		h.ours, h.all = ours, partitions
		h.Pace.Hold(ours, partitions)
	}
	h.inside(all, partitions)
}

// Release implements broker.Holder.
func (h *keeper) Release(of []broker.Held, done func()) {
	released := h.releases()
	var topics sync.WaitGroup
	for _, gone := range of {
		if t := h.of(gone); t != nil {
			topics.Go(func() { t.release(gone.Partitions, h.stop) })
		}
	}
	h.going.Go(func() {
		topics.Wait()
		done()
		released()
	})
}

// Drop implements broker.Holder.
func (h *keeper) Drop() {
	defer h.releases()()
	for _, t := range h.topics {
		t.drop()
	}
	h.end()
}

// end ends what is left of a tenure.
func (h *keeper) end() {
	h.going.Wait()
	for _, t := range h.topics {
		close(t.done)
		t.committer.Wait()
	}
	h.topics = nil
	h.parted()
}

// held is the partitions of one topic that we own by the consumer protocol. They come and go while the others run.
type held struct {
	*assignment
	topic     broker.Topic
	workers   map[int]*worker // by partition; guarded by assignment.mu
	committer sync.WaitGroup
	done      chan struct{} // ends the committer

	// committing is held during a commit and while partitions are taken out, so that none is committed after its release.
	committing turn
}

// turn is a lock. Unlike with a sync.Mutex, time goes on in a synctest bubble while goroutines wait for it.
type turn chan struct{}

func (t turn) Lock()   { t <- struct{}{} }
func (t turn) Unlock() { <-t }

// worker is one partition being worked on.
type worker struct {
	*partition
	stop, abandon context.CancelFunc
	ended         chan struct{}
}

// take starts work on partitions.
func (h *held) take(ids []int) {
	commits := &lookedUp{held: h, ids: ids, turn: make(chan struct{}, 1)}
	var more []*partition
	for _, id := range ids {
		fresh := h.fresh.Load()
		w := &worker{ended: make(chan struct{})}
		w.partition = h.partition(id, -1, func(ctx context.Context) (int64, error) { return h.beginning(ctx, w.partition, commits, fresh) })
		w.soon = h.soon
		work, stop := context.WithCancel(context.Background())
		drain, abandon := context.WithCancel(context.Background())
		w.stop, w.abandon = stop, abandon
		h.mu.Lock()
		h.workers[id] = w
		h.mu.Unlock()
		more = append(more, w.partition)
		go func() {
			defer close(w.ended)
			defer abandon()
			w.run(work, drain)
		}()
	}
	h.set(func(parts []*partition) []*partition {
		return append(slices.DeleteFunc(parts, func(p *partition) bool { return slices.Contains(ids, p.id) }), more...)
	})
}

// set replaces the partitions.
func (h *held) set(by func([]*partition) []*partition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	parts := by(slices.Clone(h.partitions))
	sortPartitions(parts)
	h.partitions = parts
}

// beginning returns where a partition begins: at what its last member committed before we got it.
func (h *held) beginning(ctx context.Context, p *partition, commits *lookedUp, fresh bool) (int64, error) {
	c, ok, err := commits.of(ctx, p.id)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return h.startOf(ctx, p.id, h.topic, fresh)
	}
	return p.resumeAt(ctx, c, h.topic)
}

// lookedUp are the commits of partitions that were taken together. The first partition to begin asks for all of them.
type lookedUp struct {
	held    *held
	ids     []int
	turn    chan struct{} // held by the goroutine that asks
	commits map[int]broker.Commit
}

func (l *lookedUp) of(ctx context.Context, id int) (c broker.Commit, ok bool, err error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return c, false, ctx.Err()
	}
	defer func() { <-l.turn }()
	if l.commits == nil {
		commits, err := l.held.cluster.Commits(ctx, l.held.Group, l.held.Topic, l.ids)
		if err != nil {
			return c, false, err
		}
		l.commits = commits
		l.held.begun(l.ids, commits)
	}
	c, ok = l.commits[id]
	return c, ok, nil
}

// begun notes what was committed of partitions.
func (h *held) begun(ids []int, commits map[int]broker.Commit) {
	h.committing.Lock()
	defer h.committing.Unlock()
	for _, id := range ids {
		if c, ok := commits[id]; ok {
			h.committed[id] = c.Offset
			h.notes[id] = note.Read(c.Metadata).Ours()
			h.rejects.begin(id, h.notes[id].Rejected)
		}
	}
}

// commitHeld commits while nothing is being taken out.
func (h *held) commitHeld() {
	h.committing.Lock()
	defer h.committing.Unlock()
	_ = h.commitNow(false)
}

// release ends work on partitions: it settles pending flights, for a bounded time, and commits. After that nothing touches them any more.
// At a stop their final state is kept for Status.
func (h *held) release(ids []int, stop context.Context) {
	last := stop.Err() != nil
	workers := h.ending(ids)
	ctx, cancel := context.WithTimeout(context.Background(), h.patienceOf(stop))
	defer cancel()
	tick := time.NewTicker(hurryEvery)
	defer tick.Stop()
	for _, w := range workers {
		for waiting := true; waiting; {
			h.Writer.Hurry()
			select {
			case <-w.ended:
				waiting = false
			case <-tick.C:
			case <-ctx.Done():
				w.abandon()
				<-w.ended
				waiting = false
			}
		}
	}
	h.takeOut(workers, last, func() { h.commitLast(ctx, last) })
}

// patienceOf returns how long partitions may settle: until a stop must be over, or until the group would not wait any longer.
func (h *held) patienceOf(stop context.Context) time.Duration {
	if stop.Err() != nil {
		return h.StopTimeout
	}
	return h.RebalanceTimeout / 3
}

// ending stops workers from taking up more.
func (h *held) ending(ids []int) (workers []*worker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		if w := h.workers[id]; w != nil {
			w.progress.state(Draining, "", nil)
			w.stop()
			workers = append(workers, w)
		}
	}
	return workers
}

// atWork returns the workers that have not been taken out.
func (h *held) atWork(workers []*worker) []*worker {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(workers, func(w *worker) bool { return h.workers[w.id] != w })
}

// drop gives up all partitions: others own them already, and nothing of them is committed.
func (h *held) drop() {
	workers := h.ending(h.ids())
	for _, w := range workers {
		w.abandon()
	}
	for _, w := range workers {
		<-w.ended
	}
	h.takeOut(workers, false, func() {})
}

// takeOut gives up partitions that nobody works on any more, after a last commit. It leaves alone those taken out meanwhile, by a release
// that a drop waits for. With keep, what is known of them stays.
func (h *held) takeOut(workers []*worker, keep bool, commit func()) {
	h.committing.Lock()
	defer h.committing.Unlock()
	if workers = h.atWork(workers); len(workers) == 0 {
		return
	}
	commit()
	var gone []*partition
	for _, w := range workers {
		gone = append(gone, w.partition)
		w.out = true
	}
	if !keep {
		h.forget(gone)
	}
	h.mu.Lock()
	for _, w := range workers {
		delete(h.workers, w.id)
	}
	h.mu.Unlock()
	h.Hooks.Revoked(RevokedInfo{Generation: h.generation, Partitions: idsOf(gone), Abandoned: abandoned(gone)})
}

// forget drops all that is known of partitions.
func (h *held) forget(gone []*partition) {
	for _, p := range gone {
		delete(h.committed, p.id)
		delete(h.notes, p.id)
		h.rejects.forget(p.id)
	}
	h.set(func(parts []*partition) []*partition {
		return slices.DeleteFunc(parts, func(p *partition) bool { return slices.Contains(gone, p) })
	})
}
