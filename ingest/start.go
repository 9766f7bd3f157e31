package ingest

import (
	"context"
	"fmt"
	"maps"

	"brine/ingest/internal/broker"
)

// assign makes the partitions of a generation, each with where it begins.
func (l *Loop) assign(m *broker.Member, g *broker.Generation) *assignment {
	a := &assignment{runner: l.runner, generation: int(g.ID), committed: map[int]int64{}, rejected: map[int]int{}}
	a.commit = func(offsets map[int]int64, rejected map[int]int) error {
		return m.Commit(g, noted(offsets, rejected, g.Topic))
	}
	for _, id := range g.Partitions {
		begin := func(ctx context.Context) (int64, error) { return l.startOf(ctx, id) }
		if c, ok := g.Commits[id]; ok {
			a.committed[id] = c.Offset
			a.rejected[id], _ = readNote(c.Metadata)
			begin = func(ctx context.Context) (int64, error) { return l.resumeAt(ctx, id, c, g.Topic) }
		}
		a.partitions = append(a.partitions, l.partition(id, -1, begin))
	}
	sortPartitions(a.partitions)
	l.rejects.reset(maps.Clone(a.rejected))
	return a
}

// resumeAt resumes at a commit, unless that is of an earlier topic of the same name.
func (r *runner) resumeAt(ctx context.Context, partition int, c broker.Commit, topic broker.Topic) (int64, error) {
	_, mark := readNote(c.Metadata)
	if !topic.Recreated(mark) {
		return c.Offset, nil
	}
	return r.otherTopic(ctx, partition, c.Offset,
		fmt.Errorf("the topic was deleted and recreated since offset %d was committed (%s; now %s)", c.Offset, c.Metadata, topic.Mark()))
}

// startOf says where to begin a partition for which nothing is committed. What it says is committed at once, so that the
// next start does not depend on the time again. Once the group has committed anything such a partition is a new one and
// begins at its first record: from "latest" it would lose what was written before we knew of it.
func (r *runner) startOf(ctx context.Context, partition int) (int64, error) {
	if r.fresh.Load() {
		return r.Start.in(ctx, r.cluster, r.Topic, partition)
	}
	return Earliest.in(ctx, r.cluster, r.Topic, partition)
}
