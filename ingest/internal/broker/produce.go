package broker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/event"
)

// ErrTooLarge is in the chain of Produce's error if the topic refuses records because of their size.
var ErrTooLarge = errors.New("too large for the topic")

// Produce appends records to a partition in one request and returns nil once all in-sync replicas have them. It sends a record's timestamp,
// key, value and headers. The request has its own memory: kafka-go may still send it after the caller has given up.
func (c *Cluster) Produce(ctx context.Context, topic string, partition int, records []event.Record) error {
	copies := make([]kafka.Record, len(records))
	for i := range records {
		copies[i] = copyOf(&records[i])
	}
	r, err := c.client.Produce(ctx, &kafka.ProduceRequest{
		Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll, Compression: kafka.Gzip, Records: kafka.NewRecordReader(copies...),
	})
	if err == nil {
		err = r.Error
	}
	if errors.Is(err, kafka.MessageSizeTooLarge) || errors.Is(err, kafka.RecordListTooLarge) {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return err
}

func copyOf(rec *event.Record) kafka.Record {
	headers := make([]kafka.Header, len(rec.Headers))
	for i, h := range rec.Headers {
		headers[i] = kafka.Header{Key: h.Key, Value: bytes.Clone(h.Value)}
	}
	return kafka.Record{Time: time.UnixMilli(rec.Timestamp), Key: ownBytes(rec.Key), Value: ownBytes(rec.Value), Headers: headers}
}

// ownBytes copies b; nil becomes null.
func ownBytes(b []byte) kafka.Bytes {
	if b == nil {
		return nil
	}
	return kafka.NewBytes(bytes.Clone(b))
}

// Create creates a topic, with the given number of replicas (−1: the brokers' default). It is not an error if the topic exists.
func (c *Cluster) Create(ctx context.Context, topic string, partitions, replicas int, settings map[string]string) error {
	t := kafka.TopicConfig{Topic: topic, NumPartitions: partitions, ReplicationFactor: replicas}
	for name, value := range settings {
		t.ConfigEntries = append(t.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	r, err := c.client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{t}})
	if err == nil && !errors.Is(r.Errors[topic], kafka.TopicAlreadyExists) {
		err = r.Errors[topic]
	}
	return err
}

// Settings returns some of a topic's settings, by name, without those that the brokers do not return.
func (c *Cluster) Settings(ctx context.Context, topic string, names ...string) (map[string]string, error) {
	r, err := c.client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{
		{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic, ConfigNames: names},
	}})
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	for _, resource := range r.Resources {
		if resource.Error != nil {
			return nil, resource.Error
		}
		for _, entry := range resource.ConfigEntries {
			settings[entry.ConfigName] = entry.ConfigValue
		}
	}
	return settings, nil
}

// LargestBatch returns the size in bytes of the largest record batch that a topic accepts.
func (c *Cluster) LargestBatch(ctx context.Context, topic string) (int, error) {
	const name = "max.message.bytes"
	settings, err := c.Settings(ctx, topic, name)
	if err != nil {
		return 0, err
	}
	value, ok := settings[name]
	if !ok {
		return 0, fmt.Errorf("topic %q has no %s", topic, name)
	}
	return strconv.Atoi(value)
}
