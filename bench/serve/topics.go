package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
)

// createTopics creates topics with 8 partitions each, and returns once all partitions have leaders. A topic that exists stays as it is.
func createTopics(ctx context.Context, address string, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	transport := new(kafka.Transport)
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(address), Timeout: 10 * time.Second, Transport: transport}
	var topics []kafka.TopicConfig
	for _, name := range names {
		topics = append(topics, kafka.TopicConfig{Topic: name, NumPartitions: 8, ReplicationFactor: 1})
	}
	made, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: topics})
	if err != nil {
		return err
	}
	for _, name := range names {
		if e := made.Errors[name]; e != nil && !errors.Is(e, kafka.TopicAlreadyExists) {
			err = errors.Join(err, fmt.Errorf("topic %s: %w", name, e))
		}
	}
	for err == nil {
		var found *kafka.MetadataResponse
		if found, err = client.Metadata(ctx, &kafka.MetadataRequest{Topics: names}); err != nil || led(found.Topics) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the topics %q have no leaders yet: %w", names, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return err
}

// led reports whether all partitions have leaders.
func led(topics []kafka.Topic) bool {
	for _, t := range topics {
		if t.Error != nil {
			return false
		}
		for _, p := range t.Partitions {
			if p.Error != nil {
				return false
			}
		}
	}
	return true
}
