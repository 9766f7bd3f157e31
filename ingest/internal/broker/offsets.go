package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// Timestamps that stand for the ends of a log.
const (
	Oldest = kafka.FirstOffset
	Newest = kafka.LastOffset
)

// Level decides whether records of open transactions count.
type Level = kafka.IsolationLevel

// The levels. At Committed, a log ends before the first record of a transaction that is still open.
const (
	Uncommitted Level = kafka.ReadUncommitted
	Committed   Level = kafka.ReadCommitted
)

// Offset is Offsets for one partition, at the level Committed. It returns the newest offset if there is no record at that time or later.
func (c *Cluster) Offset(ctx context.Context, topic string, partition int, at int64) (int64, error) {
	offsets, err := c.Offsets(ctx, topic, []int{partition}, at, Committed)
	if err != nil {
		return 0, err
	}
	offset := offsets[partition]
	if offset < 0 && at >= 0 {
		return c.Offset(ctx, topic, partition, Newest)
	}
	return offset, nil
}

// Offsets returns, for each of these partitions, the offset of the first record at or after a time in ms since 1970, or −1 if there is
// none. For Oldest or Newest it returns that end of the log.
func (c *Cluster) Offsets(ctx context.Context, topic string, partitions []int, at int64, level Level) (map[int]int64, error) {
	asked := make([]kafka.OffsetRequest, len(partitions))
	for i, p := range partitions {
		asked[i] = kafka.OffsetRequest{Partition: p, Timestamp: at}
	}
	r, err := c.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{IsolationLevel: level,
		Topics: map[string][]kafka.OffsetRequest{topic: asked}})
	if err != nil {
		return nil, err
	}
	offsets := make(map[int]int64, len(partitions))
	for _, p := range r.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("topic %s, partition %d: %w", topic, p.Partition, p.Error)
		}
		offset := offsetOf(&p, at)
		if offset < 0 && at < 0 {
			return nil, fmt.Errorf("topic %s, partition %d: no answer about its offsets", topic, p.Partition)
		}
		offsets[p.Partition] = offset
	}
	return offsets, nil
}

// offsetOf extracts the requested offset from an answer.
func offsetOf(p *kafka.PartitionOffsets, at int64) int64 {
	switch at {
	case Oldest:
		return p.FirstOffset
	case Newest:
		return p.LastOffset
	}
	for offset := range p.Offsets { // of the only timestamp
		return offset
	}
	return -1
}

// Ends returns the first offset of a partition's log and the offset after its last record.
func (c *Cluster) Ends(ctx context.Context, topic string, partition int) (low, high int64, err error) {
	if low, err = c.Offset(ctx, topic, partition, Oldest); err != nil {
		return 0, 0, err
	}
	high, err = c.Offset(ctx, topic, partition, Newest)
	return low, high, err
}

// Commit is what a group has committed for a partition: the offset to read next, and the metadata stored with it.
type Commit struct {
	Offset   int64
	Metadata string
}

// Commits returns what the group has committed for each of these partitions of the topic; no entry means nothing.
func (c *Cluster) Commits(ctx context.Context, group, topic string, partitions []int) (map[int]Commit, error) {
	commits := map[int]Commit{}
	if len(partitions) == 0 {
		return commits, nil
	}
	r, err := c.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: partitions}})
	if err == nil && !errors.Is(r.Error, kafka.GroupIdNotFound) {
		err = r.Error
	}
	if err != nil {
		return nil, err
	}
	if got := len(r.Topics[topic]); got != len(partitions) && r.Error == nil {
		return nil, fmt.Errorf("topic %s: the broker answered for %d partitions, not %d", topic, got, len(partitions))
	}
	for _, p := range r.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("partition %d: %w", p.Partition, p.Error)
		}
		if p.CommittedOffset >= 0 {
			commits[p.Partition] = Commit{p.CommittedOffset, p.Metadata}
		}
	}
	return commits, nil
}

// Claim is on whose behalf a commit is made: a group without members, or a member of a generation, which the coordinator checks.
type Claim struct {
	Group      string
	Generation int // −1 without members
	Member     string
	Instance   string
}

// Nobody returns the claim for a group without members.
func Nobody(group string) Claim { return Claim{Group: group, Generation: -1} }

// Commit commits for a group.
func (c *Cluster) Commit(ctx context.Context, by Claim, topic string, commits map[int]Commit) error {
	offsets := make([]kafka.OffsetCommit, 0, len(commits))
	for partition, to := range commits {
		offsets = append(offsets, kafka.OffsetCommit{Partition: partition, Offset: to.Offset, Metadata: to.Metadata})
	}
	r, err := c.client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
		GroupID: by.Group, GenerationID: by.Generation, MemberID: by.Member, InstanceID: by.Instance,
		Topics: map[string][]kafka.OffsetCommit{topic: offsets},
	})
	if err != nil {
		return err
	}
	for _, p := range r.Topics[topic] {
		if p.Error != nil {
			return fmt.Errorf("commit of group %q, partition %d: %w", by.Group, p.Partition, p.Error)
		}
	}
	return nil
}
