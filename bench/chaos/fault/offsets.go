package fault

import (
	"context"
	"fmt"
	"time"

	"brine/ingest"
	"brine/ingest/offsets"
)

const (
	Ask = 500 * time.Millisecond // how often the broker is asked for offsets

	partitions = 8 // of a topic that brine publish creates
)

// Offsets are the offsets of one partition.
type Offsets struct {
	Committed []int64 // by each group; 0 if it has committed nothing
	End       int64   // offset of the next record
}

// Brokers returns a client that asks a broker for offsets.
func Brokers(broker string) *offsets.Client {
	return offsets.Open(ingest.Kafka{Brokers: []string{broker}}, 5*time.Second)
}

// OffsetsOf asks the broker how far groups are in a topic that brine publish created: first for their commits and then for the ends, so
// that no commit is ahead. If the answer for any partition is an error, OffsetsOf returns an error.
func OffsetsOf(ctx context.Context, client *offsets.Client, topic string, groups ...string) ([partitions]Offsets, error) {
	var all [partitions]Offsets
	for _, group := range groups {
		committed, err := client.CommittedAll(ctx, group, topic, partitions)
		if err != nil {
			return all, err
		}
		for p := range all {
			all[p].Committed = append(all[p].Committed, committed[p])
		}
	}
	ends, err := client.Ends(ctx, topic)
	if err != nil {
		return all, err
	}
	if len(ends) != partitions {
		return all, fmt.Errorf("%s has %d partitions, not %d", topic, len(ends), partitions)
	}
	for p, end := range ends {
		all[p].End = end
	}
	return all, nil
}
