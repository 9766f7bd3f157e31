package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
)

// committedOffsets returns what a group has committed of partitions of a topic, with no entry where that is nothing.
func committedOffsets(ctx context.Context, client *kafka.Client, group, topic string, partitions []int) (map[int]int64, error) {
	resp, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: partitions}})
	if err == nil && !errors.Is(resp.Error, kafka.GroupIdNotFound) {
		err = resp.Error
	}
	if err != nil {
		return nil, fmt.Errorf("offsets of group %q: %w", group, err)
	}
	committed := make(map[int]int64, len(partitions))
	for _, p := range resp.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("offsets of group %q, partition %d: %w", group, p.Partition, p.Error)
		}
		if p.CommittedOffset >= 0 {
			committed[p.Partition] = p.CommittedOffset
		}
	}
	return committed, nil
}

// allOf are the numbers of a topic's partitions.
func allOf(partitions int) []int {
	all := make([]int, partitions)
	for i := range all {
		all[i] = i
	}
	return all
}

// endOffsets returns the next offset of each partition of a topic.
func endOffsets(ctx context.Context, client *kafka.Client, topic string) ([]int64, error) {
	return lastOffsets(ctx, client, topic, kafka.ReadUncommitted)
}

// stableOffsets returns how far each partition of a topic can be read now: up to the first record of a transaction that is open still.
func stableOffsets(ctx context.Context, client *kafka.Client, topic string) ([]int64, error) {
	return lastOffsets(ctx, client, topic, kafka.ReadCommitted)
}

func lastOffsets(ctx context.Context, client *kafka.Client, topic string, level kafka.IsolationLevel) ([]int64, error) {
	meta, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, err
	}
	if len(meta.Topics) != 1 {
		return nil, fmt.Errorf("topic %s: %w", topic, errNoTopic)
	}
	if err := meta.Topics[0].Error; err != nil {
		return nil, fmt.Errorf("topic %s: %w", topic, err)
	}
	return listOffsets(ctx, client, topic, level, len(meta.Topics[0].Partitions), kafka.LastOffsetOf, func(p kafka.PartitionOffsets) int64 { return p.LastOffset })
}

// startOffsets returns the first offset of each partition of a topic.
func startOffsets(ctx context.Context, client *kafka.Client, topic string, partitions int) ([]int64, error) {
	return listOffsets(ctx, client, topic, kafka.ReadUncommitted, partitions, kafka.FirstOffsetOf, func(p kafka.PartitionOffsets) int64 { return p.FirstOffset })
}

// offsetsAt returns the offset of the first record of a time or later in each partition of a topic; −1 where there is none.
func offsetsAt(ctx context.Context, client *kafka.Client, topic string, partitions int, at time.Time) ([]int64, error) {
	of := func(partition int) kafka.OffsetRequest { return kafka.TimeOffsetOf(partition, at) }
	return listOffsets(ctx, client, topic, kafka.ReadUncommitted, partitions, of, func(p kafka.PartitionOffsets) int64 {
		for offset := range p.Offsets { // of the one time that was asked for
			return offset
		}
		return -1
	})
}

// listOffsets asks for one offset of each partition of a topic, and takes it from the answer.
func listOffsets(ctx context.Context, client *kafka.Client, topic string, level kafka.IsolationLevel, partitions int,
	of func(partition int) kafka.OffsetRequest, take func(kafka.PartitionOffsets) int64) ([]int64, error) {
	asked := make([]kafka.OffsetRequest, partitions)
	for i := range asked {
		asked[i] = of(i)
	}
	resp, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: asked}, IsolationLevel: level})
	if err != nil {
		return nil, err
	}
	offsets := make([]int64, partitions)
	for _, p := range resp.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("topic %s, partition %d: %w", topic, p.Partition, p.Error)
		}
		offsets[p.Partition] = take(p)
	}
	return offsets, nil
}

// sum is the number of records that these end offsets stand for, in a topic that has lost none.
func sum(ends []int64) (n int64) {
	for _, end := range ends {
		n += end
	}
	return n
}
