package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// commit is what a group has committed for a partition.
type commit struct {
	offset   int64
	metadata string
}

// committed gives what the group has committed for each of these partitions of the topic.
func (c *cluster) committed(ctx context.Context, group, topic string, partitions []int) (map[int]commit, error) {
	commits := map[int]commit{}
	if len(partitions) == 0 {
		return commits, nil
	}
	r, err := c.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: partitions}})
	if err != nil {
		return nil, err
	}
	if r.Error != nil && !errors.Is(r.Error, kafka.GroupIdNotFound) {
		return nil, r.Error
	}
	for _, p := range r.Topics[topic] {
		if p.Error != nil {
			return nil, p.Error
		}
		if p.CommittedOffset >= 0 {
			commits[p.Partition] = commit{p.CommittedOffset, p.Metadata}
		}
	}
	return commits, nil
}

// claim is what a commit is made for: a group without members, or a generation of one, which the coordinator holds it to.
type claim struct {
	group      string
	generation int // −1 without members
	member     string
	instance   string
}

// commit commits for a group.
func (c *cluster) commit(ctx context.Context, by claim, topic string, commits map[int]commit) error {
	request := &kafka.OffsetCommitRequest{GroupID: by.group, GenerationID: by.generation, MemberID: by.member, InstanceID: by.instance}
	offsets := make([]kafka.OffsetCommit, 0, len(commits))
	for partition, to := range commits {
		offsets = append(offsets, kafka.OffsetCommit{Partition: partition, Offset: to.offset, Metadata: to.metadata})
	}
	request.Topics = map[string][]kafka.OffsetCommit{topic: offsets}
	r, err := c.client.OffsetCommit(ctx, request)
	if err != nil {
		return err
	}
	for _, p := range r.Topics[topic] {
		if p.Error != nil {
			return fmt.Errorf("commit of group %q, partition %d: %w", by.group, p.Partition, p.Error)
		}
	}
	return nil
}

// commit commits for a generation. It must come through while a rebalance waits for us, or not at all.
func (m *member) commit(g *generation, offsets map[int]int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), min(m.RequestTimeout, m.drainTime()))
	defer cancel()
	commits := make(map[int]commit, len(offsets))
	for partition, offset := range offsets {
		commits[partition] = commit{offset, g.topic.mark()}
	}
	return m.cluster.commit(ctx, claim{m.Group, int(g.id), g.member, m.InstanceID}, m.Topic, commits)
}
