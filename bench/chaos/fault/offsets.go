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

	partitions = 8 // of a topic that brine publish makes
)

// Offsets are of one partition.
type Offsets struct {
	Committed []int64 // by each group; 0 if nothing is
	End       int64   // that of the next record
}

// Brokers makes a client that asks a broker for offsets.
func Brokers(broker string) *offsets.Client {
	return offsets.Open(ingest.Kafka{Brokers: []string{broker}}, 5*time.Second)
}

// OffsetsOf asks the broker how far groups are in a topic that brine publish has made: for what they have committed first, and then for
// the ends, so that none is ahead. An answer is whole: as long as one partition's is an error, so is this.
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
