package fault

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
)

const (
	Ask = 500 * time.Millisecond // how often the broker is asked for offsets

	partitions = 8 // of a topic that brine publish makes
)

// Offsets are of one partition.
type Offsets struct {
	Committed []int64 // by each group; 0 if nothing is
	End       int64   // that of the next record
}

// OffsetsOf asks the broker how far groups are in a topic that brine publish has made: for what they have committed first, and then for the ends, so
// that none is ahead. An answer is whole: as long as one partition's is an error, so is this.
func OffsetsOf(ctx context.Context, client *kafka.Client, topic string, groups ...string) ([partitions]Offsets, error) {
	var all [partitions]Offsets
	for _, group := range groups {
		committed, err := committedBy(ctx, client, topic, group)
		if err != nil {
			return all, err
		}
		for _, p := range committed {
			all[p.Partition].Committed = append(all[p.Partition].Committed, max(0, p.CommittedOffset))
		}
	}
	var asked []kafka.OffsetRequest
	for i := range partitions {
		asked = append(asked, kafka.LastOffsetOf(i))
	}
	ends, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: asked}})
	if err != nil {
		return all, err
	}
	for _, p := range ends.Topics[topic] {
		if p.Error != nil {
			return all, p.Error
		}
		all[p.Partition].End = p.LastOffset
	}
	return all, nil
}

// committedBy asks for what one group has committed in each partition.
func committedBy(ctx context.Context, client *kafka.Client, topic, group string) ([]kafka.OffsetFetchPartition, error) {
	var numbers []int
	for i := range partitions {
		numbers = append(numbers, i)
	}
	answer, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: numbers}})
	if err == nil {
		err = answer.Error
	}
	if err != nil {
		return nil, err
	}
	all := answer.Topics[topic]
	if len(all) != partitions {
		return nil, fmt.Errorf("%s in %s: the broker tells of %d partitions, not of %d", group, topic, len(all), partitions)
	}
	for _, p := range all {
		if p.Error != nil {
			return nil, p.Error
		}
	}
	return all, nil
}
