package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/config"
	"brine/event"
	"brine/ingest"
)

// kafkaClient makes a client for the brokers of the configuration.
func kafkaClient(k *config.Kafka) *kafka.Client {
	opts := k.Options()
	return &kafka.Client{Addr: kafka.TCP(opts.Brokers...), Timeout: k.RequestTimeout,
		Transport: &kafka.Transport{TLS: opts.TLS, SASL: opts.SASL, ClientID: opts.ClientID}}
}

// kafkaError gives the error of a request its exit code: brokers that answered, but with an error, are reachable.
func kafkaError(err error) error {
	var answer kafka.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, kafka.UnknownTopicOrPartition), errors.Is(err, errNoTopic):
		return &exitError{exitMissing, err, "create the topic, or correct its name"}
	case errors.As(err, &answer) && answer != kafka.BrokerNotAvailable: // which is what kafka-go says when it knows of no broker
		return fmt.Errorf("kafka.brokers: %w", err)
	}
	return &exitError{exitUnreachable, fmt.Errorf("kafka.brokers: %w", err), "is Kafka running there?"}
}

// createTopic makes a topic with its number of partitions; it is no error when the topic exists.
func createTopic(ctx context.Context, client *kafka.Client, topic string, partitions int) error {
	if _, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}}); err != nil {
		return err // what it says of a broker that cannot be reached is of use
	}
	resp, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}},
	})
	if err != nil {
		return fmt.Errorf("create topic %s: %w", topic, err)
	}
	if err := resp.Errors[topic]; err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
		return fmt.Errorf("create topic %s: %w", topic, err)
	}
	return awaitLeaders(ctx, client, topic)
}

// awaitLeaders waits until every partition of a topic that was just created answers.
func awaitLeaders(ctx context.Context, client *kafka.Client, topic string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := endOffsets(ctx, client, topic)
		var code kafka.Error
		if !errors.As(err, &code) || !code.Temporary() {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("topic %s was created, but has no leaders yet: %w", topic, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

var errNoTopic = errors.New("no such topic")

// checkRecords is how many of a topic's latest records check looks at.
const checkRecords = 2000

// latestRecords reads about n of a topic's latest records, spread over its partitions.
func latestRecords(ctx context.Context, k *config.Kafka, topic string, n int) ([]event.Record, error) {
	ends, err := stableOffsets(ctx, kafkaClient(k), topic)
	if errors.Is(err, kafka.UnknownTopicOrPartition) {
		return nil, errNoTopic
	}
	if err != nil {
		return nil, kafkaError(err)
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
			out = append(out, heldRecord(r))
		}
	}
	return out, nil
}

// topicReader reads records of a topic without a group, those of aborted transactions left out.
func topicReader(k *config.Kafka, topic string) *ingest.TopicReader {
	return ingest.NewTopicReader(ingest.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: topic})
}

// heldRecord copies a record that is valid until the next.
func heldRecord(r *event.Record) event.Record {
	held := *r
	held.Key, held.Value, held.Headers = bytes.Clone(r.Key), bytes.Clone(r.Value), slices.Clone(r.Headers)
	for i := range held.Headers {
		held.Headers[i].Value = bytes.Clone(held.Headers[i].Value)
	}
	return held
}
