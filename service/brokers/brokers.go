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

// Open makes a client that asks the brokers of a configuration for offsets; it connects to nothing yet.
func Open(k *config.Kafka) *offsets.Client { return offsets.Open(k.Options(), k.RequestTimeout) }

// NewReader makes a reader of a topic's records without a group, those of aborted transactions left out.
func NewReader(k *config.Kafka, topic string) *ingest.TopicReader {
	return ingest.NewTopicReader(ingest.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: topic})
}

// Error gives the error of a request its kind: brokers that answered, but with an error, are reachable.
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

// Offsets is a client whose errors have their kinds.
type Offsets struct{ *offsets.Client }

// CheckProtocol returns an error where the brokers do not have the protocol that members are to speak.
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
			errors.New("kafka.group_protocol: the brokers do not speak the consumer protocol (Kafka 4.0 and later do)"),
			"write group_protocol: auto or classic")
	}
	return nil
}

// Ends returns the next offset of each partition of a topic.
func (o Offsets) Ends(ctx context.Context, topic string) ([]int64, error) {
	ends, err := o.Client.Ends(ctx, topic)
	return ends, Error(err)
}

// StableEnds returns how far each partition of a topic can be read now.
func (o Offsets) StableEnds(ctx context.Context, topic string) ([]int64, error) {
	ends, err := o.Client.StableEnds(ctx, topic)
	return ends, Error(err)
}

// Starts returns the first offset of each partition of a topic.
func (o Offsets) Starts(ctx context.Context, topic string) ([]int64, error) {
	starts, err := o.Client.Starts(ctx, topic)
	return starts, Error(err)
}

// Committed returns what a group has committed of partitions of a topic, with no entry where nothing is committed.
func (o Offsets) Committed(ctx context.Context, group, topic string, partitions []int) (map[int]int64, error) {
	committed, err := o.Client.Committed(ctx, group, topic, partitions)
	return committed, Error(err)
}
