package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"brine/ingest/internal/broker"
	"brine/ingest/internal/note"
)

// assign makes an assignment of what a generation assigns, for each topic.
func (l *Loop) assign(m *broker.Member, g *broker.Generation) (all assignments) {
	for _, name := range slices.Sorted(maps.Keys(g.Topics)) {
		a := l.topic(name).assigned(m, g)
		a.loop = l
		all = append(all, a)
	}
	l.Pace.Hold(len(all.ids()), g.Partitions())
	return all
}

// assigned makes the partitions of the topic that a generation assigns, each with where it begins.
func (r *runner) assigned(m *broker.Member, g *broker.Generation) *assignment {
	share := g.Topics[r.Topic]
	a := &assignment{runner: r, generation: int(g.ID), committed: map[int]int64{}, notes: map[int]note.Note{}, soon: newSoon()}
	a.commit = func(offsets map[int]int64, notes map[int]note.Note) error {
		return m.Commit(g, r.Topic, noted(offsets, notes, share.Topic))
	}
	rejected := map[int]int{}
	for _, id := range share.Partitions {
		p := r.partition(id, -1, func(ctx context.Context) (int64, error) { return r.startOf(ctx, id, share.Topic, r.fresh.Load()) })
		p.soon = a.soon
		if c, ok := share.Commits[id]; ok {
			a.committed[id] = c.Offset
			a.notes[id] = note.Read(c.Metadata).Ours()
			rejected[id] = a.notes[id].Rejected
			p.begin = func(ctx context.Context) (int64, error) { return p.resumeAt(ctx, c, share.Topic) }
		}
		a.partitions = append(a.partitions, p)
	}
	sortPartitions(a.partitions)
	r.rejects.reset(rejected)
	return a
}

// resumeAt resumes at a commit, unless the commit belongs to an earlier topic of the same name.
func (p *partition) resumeAt(ctx context.Context, c broker.Commit, topic broker.Topic) (int64, error) {
	p.last = new(note.Read(c.Metadata))
	p.reader = p.last.Reader
	same := !topic.Recreated(p.last.Topic)
	reach := p.last.Reach
	if !same || !p.last.Over { // whoever read it may have read all that there is, and written it
		var err error
		if reach, err = p.cluster.Offset(ctx, p.Topic, p.id, broker.Newest); err != nil {
			return 0, err
		}
	}
	p.former.Store(reach)
	if same {
		p.progress.committed(c.Offset)
		return c.Offset, nil
	}
	return p.otherTopic(ctx, p.id, c.Offset,
		fmt.Errorf("the topic was deleted and recreated since offset %d was committed (%s; now %s)", c.Offset, c.Metadata, topic.Mark()))
}

// startOf returns where to begin a partition for which nothing is committed. The result is committed at once, so that the next start does
// not depend on the time again. Once the group has committed anything, such a partition is a new one, and so is one that the topic did not
// have when we first looked. A new partition begins at its first record: with "latest" it would lose what was written before we knew of it.
func (r *runner) startOf(ctx context.Context, partition int, topic broker.Topic, fresh bool) (int64, error) {
	if fresh && partition < r.first.Partitions && topic.Is(r.first) {
		return r.Start.in(ctx, r.cluster, r.Topic, partition)
	}
	return Earliest.in(ctx, r.cluster, r.Topic, partition)
}
