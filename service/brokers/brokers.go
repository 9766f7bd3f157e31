package brokers

import (
	"context"
	"errors"
	"fmt"

	"brine/config"
	"brine/ingest"
	"brine/ingest/offsets"
	"brine/internal/fault"
)

// Open returns a client for offsets on the brokers of a configuration. It does not connect yet.
func Open(k *config.Kafka) *offsets.Client { return offsets.Open(k.Options(), k.RequestTimeout) }

// NewReader returns a reader of a topic's records that belongs to no group and skips aborted transactions.
func NewReader(k *config.Kafka, topic string) *ingest.TopicReader {
	return ingest.NewTopicReader(ingest.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: topic})
}

// Error wraps an error of a request in its fault kind. Brokers that answered, even with an error, are reachable.
func Error(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case offsets.NoTopic(err):
		return fault.New(fault.Missing, err, "create the topic, or correct its name")
	case errors.Is(err, ingest.ErrDenied):
		return fault.New(fault.Failed, fmt.Errorf("kafka.brokers: %w", err), Fix(err))
	case offsets.Answered(err):
		return fmt.Errorf("kafka.brokers: %w", err)
	}
	return fault.New(fault.Unreachable, fmt.Errorf("kafka.brokers: %w", err), Fix(err))
}

// Offsets is a client whose errors have fault kinds.
type Offsets struct{ *offsets.Client }

// CheckProtocol returns an error if the brokers do not support the configured group protocol.
func (o Offsets) CheckProtocol(ctx context.Context, protocol string) error {
	if protocol != string(ingest.Consumer) {
		return nil
	}
	has, err := o.HasConsumers(ctx)
	if err != nil {
		return Error(err)
	}
	if !has {
		return fault.New(fault.Failed,
			errors.New("kafka.group_protocol: the brokers do not support the consumer protocol (Kafka 4.0 and later do)"),
			"write group_protocol: auto or classic")
	}
	return nil
}

// Ends returns the next offset of each partition of a topic.
func (o Offsets) Ends(ctx context.Context, topic string) ([]int64, error) {
	ends, err := o.Client.Ends(ctx, topic)
	return ends, Error(err)
}

// StableEnds returns the offset up to which each partition of a topic can be read now.
func (o Offsets) StableEnds(ctx context.Context, topic string) ([]int64, error) {
	ends, err := o.Client.StableEnds(ctx, topic)
	return ends, Error(err)
}

// Starts returns the first offset of each partition of a topic.
func (o Offsets) Starts(ctx context.Context, topic string) ([]int64, error) {
	starts, err := o.Client.Starts(ctx, topic)
	return starts, Error(err)
}

// Committed returns a group's committed offsets of partitions of a topic. A partition without a commit is absent.
func (o Offsets) Committed(ctx context.Context, group, topic string, partitions []int) (map[int]int64, error) {
	committed, err := o.Client.Committed(ctx, group, topic, partitions)
	return committed, Error(err)
}
