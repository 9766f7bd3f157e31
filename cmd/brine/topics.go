package main

import (
	"context"
	"errors"
	"fmt"

	"brine/config"
	"brine/event"
	"brine/ingest"
	"brine/ingest/deadletter"
	"brine/ingest/offsets"
	"brine/service"
)

// lookUps makes a client that asks the brokers of the configuration for offsets.
func lookUps(k *config.Kafka) *offsets.Client { return offsets.Open(k.Options(), k.RequestTimeout) }

// kafkaError gives the error of a request its exit code: brokers that answered, but with an error, are reachable.
func kafkaError(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case offsets.NoTopic(err):
		return &exitError{exitMissing, err, "create the topic, or correct its name"}
	case errors.Is(err, ingest.ErrDenied):
		return &exitError{exitFailed, fmt.Errorf("kafka.brokers: %w", err), service.KafkaFix(err)}
	case offsets.Answered(err):
		return fmt.Errorf("kafka.brokers: %w", err)
	}
	return &exitError{exitUnreachable, fmt.Errorf("kafka.brokers: %w", err), service.KafkaFix(err)}
}

// topicReader reads records of a topic without a group, those of aborted transactions left out.
func topicReader(k *config.Kafka, topic string) *ingest.TopicReader {
	return ingest.NewTopicReader(ingest.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: topic})
}

// brokerTopics asks the brokers of a configuration about topics.
type brokerTopics struct{ cfg *config.Config }

// Latest returns about n of a topic's latest records, spread over its partitions.
func (t brokerTopics) Latest(ctx context.Context, topic string, n int) ([]event.Record, error) {
	k := &t.cfg.Kafka
	client := lookUps(k)
	defer client.Close()
	ends, err := client.StableEnds(ctx, topic)
	if err != nil {
		return nil, missingOr(err)
	}
	reader := topicReader(k, topic)
	defer reader.Close()
	var out []event.Record
	share := int64(max(1, n/len(ends)))
	for partition, end := range ends {
		for r, err := range reader.Records(ctx, partition, max(0, end-share), end) {
			if err != nil {
				return nil, err
			}
			out = append(out, r.Clone())
		}
	}
	return out, nil
}

// Settings returns settings of a topic by their names.
func (t brokerTopics) Settings(ctx context.Context, topic string, names ...string) (map[string]string, error) {
	client := lookUps(&t.cfg.Kafka)
	defer client.Close()
	settings, err := client.Settings(ctx, topic, names...)
	return settings, missingOr(err)
}

// missingOr is ErrNoTopic where an error says so, and else the error with its exit code.
func missingOr(err error) error {
	if offsets.NoTopic(err) {
		return ingest.ErrNoTopic
	}
	return kafkaError(err)
}

// DeadLetterRoom returns how large a record the pipeline's topic of dead letters takes, and how large a one it should.
func (t brokerTopics) DeadLetterRoom(ctx context.Context, p *config.Pipeline) (takes, should int, err error) {
	return deadletter.Room(ctx, t.cfg.Ingest(p, p.RowsGroup()).DeadLetterTopicOptions())
}
