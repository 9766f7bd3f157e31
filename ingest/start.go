package ingest

import (
	"context"
	"fmt"
	"maps"
)

// assign makes the partitions of a generation, each with where it begins.
func (l *Loop) assign(m *member, g *generation) *assignment {
	a := &assignment{runner: l.runner, generation: int(g.id), committed: map[int]int64{}, rejected: map[int]int{}}
	a.commit = func(offsets map[int]int64, rejected map[int]int) error { return m.commit(g, offsets, rejected) }
	for _, id := range g.partitions {
		begin := func(ctx context.Context) (int64, error) { return l.startOf(ctx, id) }
		if c, ok := g.committed[id]; ok {
			a.committed[id] = c.offset
			a.rejected[id], _ = readNote(c.metadata)
			begin = func(ctx context.Context) (int64, error) { return l.resumeAt(ctx, id, c, g.topic) }
		}
		a.partitions = append(a.partitions, l.partition(id, -1, begin))
	}
	sortPartitions(a.partitions)
	l.rejects.reset(maps.Clone(a.rejected))
	return a
}

// resumeAt goes on at a commit, unless that is of an earlier topic of the same name: its offsets say nothing about this one.
func (r *runner) resumeAt(ctx context.Context, partition int, c commit, topic topicState) (int64, error) {
	if !topic.madeAnew(c.metadata) {
		return c.offset, nil
	}
	said := fmt.Errorf("the topic was deleted and recreated since offset %d was committed (%s; now %s)", c.offset, c.metadata, topic.mark())
	to := Earliest
	switch r.OutOfRange {
	case StopAndSay:
		return 0, &haltError{TopicAnew, fmt.Errorf("%w; set the group's offset, or out_of_range: earliest or latest to go on", said)}
	case FromLatest:
		to = Latest
	}
	offset, err := to.in(ctx, r.cluster, r.Topic, partition)
	if err != nil {
		return 0, err
	}
	r.Hooks.Skipped(partition, c.offset, offset)
	r.Logger.Error("the topic was recreated", "topic", r.Topic, "partition", partition, "error", said, "going_on_at", offset, "policy", r.OutOfRange)
	return 0, errMoved(offset)
}

// startOf says where to begin a partition for which nothing is committed. What it says is committed at once, so that the
// next start does not depend on the time again. Once the group has committed anything such a partition is a new one and
// begins at its first record: from "latest" it would lose what was written before we heard of it.
func (r *runner) startOf(ctx context.Context, partition int) (int64, error) {
	if r.fresh.Load() {
		return r.Start.in(ctx, r.cluster, r.Topic, partition)
	}
	return Earliest.in(ctx, r.cluster, r.Topic, partition)
}
