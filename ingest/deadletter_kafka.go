package ingest

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/segmentio/kafka-go"
)

const (
	letterExtra    = 64 << 10  // how much longer than its record a letter may be
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

// DeadLetterRoom returns the size of the largest letter that the topic of dead letters takes, and the size that it should take: the largest
// record of the source and 64 KiB. ErrNoTopic is in the chain of its error when one of the topics is missing.
func DeadLetterRoom(ctx context.Context, o Options) (takes, should int, err error) {
	o.EnsureDefaults()
	c := newCluster(o.Kafka, o.RequestTimeout, o.Topic, o.DeadLetterTopic)
	defer c.close()
	for _, topic := range []string{o.Topic, o.DeadLetterTopic} {
		if _, err := c.partitions(ctx, topic); err != nil {
			return 0, 0, err
		}
	}
	if should, err = largestRecord(ctx, c, o.Topic); err == nil {
		takes, err = largestRecord(ctx, c, o.DeadLetterTopic)
	}
	return takes, should + letterExtra, err
}

// Write produces the letters with acks=all, partition by partition.
func (t *deadLetterTopic) Write(ctx context.Context, letters []DeadLetter) error {
	byPartition := map[int][]*DeadLetter{}
	for i := range letters {
		p := letters[i].Record.Partition % t.count
		byPartition[p] = append(byPartition[p], &letters[i])
	}
	return t.write(ctx, byPartition, (*DeadLetter).record)
}

// write produces a record for each letter, in batches.
func (t *deadLetterTopic) write(ctx context.Context, byPartition map[int][]*DeadLetter, form func(*DeadLetter) kafka.Record) error {
	for p, letters := range byPartition {
		from, size := 0, 0
		for i, l := range letters {
			n := l.Record.Size() + letterExtra/16
			if size > 0 && size+n > maxLetterBatch {
				if err := t.produce(ctx, p, letters[from:i], form); err != nil {
					return err
				}
				from, size = i, 0
			}
			size += n
		}
		if err := t.produce(ctx, p, letters[from:], form); err != nil {
			return err
		}
	}
	return nil
}

// produce writes one batch, compressed, as records that only just fit their own topic may be. When this topic refuses the batch
// for its size, each half goes by itself.
func (t *deadLetterTopic) produce(ctx context.Context, partition int, letters []*DeadLetter, form func(*DeadLetter) kafka.Record) error {
	records := make([]kafka.Record, len(letters))
	for i, l := range letters {
		records[i] = form(l)
	}
	r, err := t.cluster.client.Produce(ctx, &kafka.ProduceRequest{
		Topic: t.topic, Partition: partition, RequiredAcks: kafka.RequireAll, Compression: kafka.Gzip, Records: kafka.NewRecordReader(records...),
	})
	if err == nil {
		err = r.Error
	}
	large := errors.Is(err, kafka.MessageSizeTooLarge) || errors.Is(err, kafka.RecordListTooLarge)
	switch {
	case err == nil:
		return nil
	case large && len(letters) > 1:
		half := len(letters) / 2
		if err := t.produce(ctx, partition, letters[:half], form); err != nil {
			return err
		}
		return t.produce(ctx, partition, letters[half:], form)
	case large:
		rec := letters[0].Record
		need := rec.Size() + letterExtra
		err = fmt.Errorf("the letter of partition %d, offset %d is too large: %w; raise the topic's max.message.bytes to %d at least (kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config max.message.bytes=%d)",
			rec.Partition, rec.Offset, err, need, t.topic, need)
	}
	return fmt.Errorf("dead letters to topic %q, partition %d: %w", t.topic, partition, err)
}
