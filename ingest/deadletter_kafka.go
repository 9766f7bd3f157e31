package ingest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/event"
)

// Names of the headers that a dead letter carries behind the record's own. All values are UTF-8 text, numbers in decimal.
// The record's key, value and headers are unchanged, so that a dead letter is replayed by taking these away.
const (
	HeaderTopic     = "brine.topic"     // where the record was: with partition and offset the letter's identity
	HeaderPartition = "brine.partition" //
	HeaderOffset    = "brine.offset"    //
	HeaderTimestamp = "brine.timestamp" // the record's, ms since 1970
	HeaderGroup     = "brine.group"     // the consumer group whose writer did not take it
	HeaderReason    = "brine.reason"    // one of event's reasons
	HeaderField     = "brine.field"     // path of the field; absent when the record as a whole is meant
	HeaderDetail    = "brine.detail"    // for people
	HeaderTime      = "brine.time"      // when the letter was written, ms since 1970
)

const (
	letterExtra    = 64 << 10  // how much longer than its record a letter may be
	maxDetail      = 4 << 10   // bytes of detail that a letter keeps
	maxLetterBatch = 512 << 10 // bytes of records in one produce request, unless a single one is longer
)

// deadLetterTopic writes dead letters to a topic. A letter goes to the partition of its record (modulo the topic's
// number), so that the letters of one partition keep their order.
type deadLetterTopic struct {
	cluster *cluster
	topic   string
	count   int // of partitions
}

// openDeadLetterTopic finds the topic, or makes it with as many partitions as its source and room for its largest records.
func openDeadLetterTopic(ctx context.Context, c *cluster, topic, source string, partitions int) (*deadLetterTopic, error) {
	t := &deadLetterTopic{cluster: c, topic: topic}
	found, err := c.partitions(ctx, topic)
	if errors.Is(err, ErrNoTopic) {
		if err := t.create(ctx, source, partitions); err != nil {
			return nil, fmt.Errorf("dead letters: creating topic %q: %w; create it, or give the user CREATE on it", topic, err)
		}
		t.count = partitions
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("dead letters: %w", err)
	}
	t.count = len(found)
	return t, nil
}

func (t *deadLetterTopic) create(ctx context.Context, source string, partitions int) error {
	configs := []kafka.ConfigEntry{{ConfigName: "retention.ms", ConfigValue: "-1"}}
	if largest, err := largestRecord(ctx, t.cluster, source); err == nil {
		configs = append(configs, kafka.ConfigEntry{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(largest + letterExtra)})
	}
	r, err := t.cluster.client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: t.topic, NumPartitions: partitions, ReplicationFactor: -1, ConfigEntries: configs},
	}})
	if err != nil {
		return err
	}
	if err := r.Errors[t.topic]; err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
		return err
	}
	return nil
}

// largestRecord asks for the size of the largest batch that a topic takes.
func largestRecord(ctx context.Context, c *cluster, topic string) (int, error) {
	const name = "max.message.bytes"
	r, err := c.client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{
		{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{name}},
	}})
	if err != nil {
		return 0, err
	}
	for _, resource := range r.Resources {
		for _, entry := range resource.ConfigEntries {
			if entry.ConfigName == name {
				return strconv.Atoi(entry.ConfigValue)
			}
		}
	}
	return 0, fmt.Errorf("topic %q has no %s", topic, name)
}

// Write produces the letters with acks=all, partition by partition.
func (t *deadLetterTopic) Write(ctx context.Context, letters []DeadLetter) error {
	byPartition := map[int][]kafka.Record{}
	sizes := map[int]int{}
	for i := range letters {
		l := &letters[i]
		p := l.Record.Partition % t.count
		if n := l.Record.Size() + letterExtra/16; sizes[p] > 0 && sizes[p]+n > maxLetterBatch {
			if err := t.produce(ctx, p, byPartition[p]); err != nil {
				return err
			}
			byPartition[p], sizes[p] = nil, 0
		}
		byPartition[p] = append(byPartition[p], l.record())
		sizes[p] += l.Record.Size() + letterExtra/16
	}
	for p, records := range byPartition {
		if err := t.produce(ctx, p, records); err != nil {
			return err
		}
	}
	return nil
}

func (t *deadLetterTopic) produce(ctx context.Context, partition int, records []kafka.Record) error {
	r, err := t.cluster.client.Produce(ctx, &kafka.ProduceRequest{
		Topic: t.topic, Partition: partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...),
	})
	if err == nil {
		err = r.Error
	}
	if err != nil {
		return fmt.Errorf("dead letters to topic %q, partition %d: %w", t.topic, partition, err)
	}
	return nil
}

// record is the letter as Kafka keeps it.
func (l *DeadLetter) record() kafka.Record {
	rec := l.Record
	headers := make([]kafka.Header, 0, len(rec.Headers)+9)
	for _, h := range rec.Headers {
		headers = append(headers, kafka.Header{Key: h.Key, Value: h.Value})
	}
	text := func(key, value string) {
		if value != "" {
			headers = append(headers, kafka.Header{Key: key, Value: []byte(value)})
		}
	}
	number := func(key string, n int64) { text(key, strconv.FormatInt(n, 10)) }
	text(HeaderTopic, rec.Topic)
	number(HeaderPartition, int64(rec.Partition))
	number(HeaderOffset, rec.Offset)
	number(HeaderTimestamp, rec.Timestamp)
	text(HeaderGroup, l.Group)
	text(HeaderReason, string(l.Reason))
	text(HeaderField, l.Field)
	text(HeaderDetail, l.Detail[:min(len(l.Detail), maxDetail)])
	number(HeaderTime, l.Time.UnixMilli())
	return kafka.Record{Time: l.Time, Key: bytesOrNull(rec.Key), Value: bytesOrNull(rec.Value), Headers: headers}
}

func bytesOrNull(b []byte) kafka.Bytes {
	if b == nil {
		return nil
	}
	return kafka.NewBytes(b)
}

// ReadDeadLetter takes a record of a dead-letter topic apart: the original record, where it was, and why it is here. The
// letter shares rec's key and value.
func ReadDeadLetter(rec *event.Record) (DeadLetter, error) {
	original := &event.Record{Key: rec.Key, Value: rec.Value}
	l := DeadLetter{Record: original}
	var faults []error
	number := func(name string, b []byte) int64 {
		n, err := strconv.ParseInt(string(b), 10, 64)
		if err != nil {
			faults = append(faults, fmt.Errorf("header %s: %w", name, err))
		}
		return n
	}
	own := len(rec.Headers) // ours are the last ones, from the last HeaderTopic on
	for own > 0 && rec.Headers[own-1].Key != HeaderTopic {
		own--
	}
	if own == 0 {
		return l, fmt.Errorf("partition %d, offset %d is no dead letter: it has no header %s", rec.Partition, rec.Offset, HeaderTopic)
	}
	if own > 1 {
		original.Headers = rec.Headers[:own-1]
	}
	for _, h := range rec.Headers[own-1:] {
		switch h.Key {
		case HeaderTopic:
			original.Topic = string(h.Value)
		case HeaderPartition:
			original.Partition = int(number(h.Key, h.Value))
		case HeaderOffset:
			original.Offset = number(h.Key, h.Value)
		case HeaderTimestamp:
			original.Timestamp = number(h.Key, h.Value)
		case HeaderGroup:
			l.Group = string(h.Value)
		case HeaderReason:
			l.Reason = event.Reason(h.Value)
		case HeaderField:
			l.Field = string(h.Value)
		case HeaderDetail:
			l.Detail = string(h.Value)
		case HeaderTime:
			l.Time = time.UnixMilli(number(h.Key, h.Value))
		}
	}
	return l, errors.Join(faults...)
}
