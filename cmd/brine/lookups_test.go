package main

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/ingest"
	"brine/ingest/offsets"
	"brine/publish"
)

// lookUpsOf asks the brokers that a test's client knows.
func lookUpsOf(client *kafka.Client) (c *offsets.Client, k ingest.Kafka) {
	k = ingest.Kafka{Brokers: strings.Split(client.Addr.String(), ",")}
	if t, ok := client.Transport.(*kafka.Transport); ok {
		if k.SASL = t.SASL; t.TLS != nil {
			k.TLS = func() *tls.Config { return t.TLS }
		}
	}
	return offsets.Open(k, time.Minute), k
}

func endOffsets(ctx context.Context, client *kafka.Client, topic string) ([]int64, error) {
	c, _ := lookUpsOf(client)
	defer c.Close()
	return c.Ends(ctx, topic)
}

func committedOffsets(ctx context.Context, client *kafka.Client, group, topic string, partitions int) (map[int]int64, error) {
	c, _ := lookUpsOf(client)
	defer c.Close()
	return c.CommittedAll(ctx, group, topic, partitions)
}

// createTopicBy creates a topic with the client itself, because its transport remembers which topics exist and would not notice one created
// by another client. Then it waits until the partitions have leaders.
func createTopicBy(ctx context.Context, client *kafka.Client, topic string, partitions int) error {
	created := []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}}
	resp, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: created})
	if err == nil {
		err = resp.Errors[topic]
	}
	if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
		return err
	}
	c, _ := lookUpsOf(client)
	defer c.Close()
	return c.CreateTopic(ctx, topic, partitions)
}

// appenderBy appends records to a topic.
func appenderBy(client *kafka.Client, topic string) *publish.Appender {
	c, k := lookUpsOf(client)
	c.Close()
	return &publish.Appender{Kafka: k, RequestTimeout: time.Minute, Topic: topic}
}

// sum returns the number of records that these end offsets stand for, in a topic that has lost none.
func sum(ends []int64) (n int64) {
	for _, end := range ends {
		n += end
	}
	return n
}
