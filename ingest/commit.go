package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"brine/event"
	"brine/ingest/internal/broker"
	"brine/ingest/internal/note"
	"brine/internal/backoff"
)

// commitUntil commits at every interval, and when a partition cannot be read before, until done is closed. A commit that fails is repeated.
func (a *assignment) commitUntil(done <-chan struct{}, commit func()) {
	tick := time.NewTicker(a.CommitInterval)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		case <-a.soon:
		}
		commit()
	}
}

// doubtful is how long commits are repeated after one has failed. The failed one may have been sent all the same and arrive after later
// ones; the coordinator keeps what arrives last, which would move the offset back.
const doubtful = 30 * time.Second

func (a *assignment) inDoubt() bool { return time.Since(a.doubt) < doubtful }

// commitNow commits the watermarks that have risen above what was committed, reports an error and returns it. Only the goroutine of run
// calls it, or, one at a time, a goroutine that holds held.committing.
//
// The starts of a new group's partitions are committed together (see startOf), so commitNow waits for the last of them, unless this is the
// last call.
func (a *assignment) commitNow(last bool) error {
	offsets, notes := map[int]int64{}, map[int]note.Note{}
	again := a.inDoubt()
	for _, p := range a.parts() {
		if p.out {
			continue
		}
		before, ok := a.committed[p.id]
		if a.fresh.Load() && p.mark.edge() < 0 && !ok && !last {
			return nil
		}
		if p.rewound.Swap(false) {
			delete(a.committed, p.id)
			ok = false
		}
		if edge := p.mark.edge(); edge >= 0 { // p.reader is set before
			now := note.Note{Rejected: a.rejects.of(p.id), Reader: cmp.Or(a.successor, p.reader)}
			if now.Over = p.over.Load(); now.Over {
				now.Reach = p.reach()
			}
			if !ok || edge > before || again || now != a.notes[p.id] {
				offsets[p.id], notes[p.id] = edge, now
			}
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	began := time.Now()
	if err := a.commit(offsets, notes); err != nil {
		a.doubt = time.Now()
		a.Hooks.CommitFailed(CommitFailedInfo{err})
		a.Logger.Warn("commit failed", "topic", a.Topic, "group", a.Group, "error", err)
		for _, p := range a.parts() {
			if _, ok := offsets[p.id]; ok && p.announcing.Load() {
				p.waiting(event.Unavailable, fmt.Errorf("its first commit failed: %w", err))
			}
		}
		return err
	}
	a.fresh.Store(false)
	a.Hooks.Took(TookInfo{Flight: context.Background(), Step: StepCommit, Duration: time.Since(began)})
	for _, p := range a.parts() {
		if offset, ok := offsets[p.id]; ok {
			a.committed[p.id], a.notes[p.id] = offset, notes[p.id]
			p.progress.committed(offset)
			if !notes[p.id].Over {
				p.open()
			}
			a.Hooks.Committed(CommittedInfo{Partition: p.id, Offset: offset})
		}
	}
	return nil
}

// commitLast commits before partitions are given up. A commit that fails is repeated until ctx ends or the group has taken the partitions
// from us: the coordinator may just have moved, and without it what is settled would be redelivered. At a rebalance, one in doubt might
// also arrive after the next member's. At a stop, they note who goes on.
func (a *assignment) commitLast(ctx context.Context, stops bool) {
	if stops && a.loop != nil {
		if next := a.loop.handsOver(); next != nil {
			a.successor = next.reader
		}
	}
	for pauses := (backoff.Pauses{Base: a.RetryMin, Limit: hurryEvery}); ; {
		err := a.commitNow(true)
		if err == nil || errors.Is(err, broker.ErrLost) || broker.Refused(err) || pauses.Wait(ctx) != nil {
			return
		}
	}
}

// noted returns the commits of offsets, with the notes that accompany them.
func noted(offsets map[int]int64, notes map[int]note.Note, topic broker.Topic) map[int]broker.Commit {
	commits := make(map[int]broker.Commit, len(offsets))
	for partition, offset := range offsets {
		n := notes[partition]
		n.Topic = topic.Mark()
		commits[partition] = broker.Commit{Offset: offset, Metadata: n.String()}
	}
	return commits
}

// NotedReader returns who reads a partition, according to the metadata of a commit: see Taken.Reader.
func NotedReader(metadata string) string { return note.Read(metadata).Reader }
