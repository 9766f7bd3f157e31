package deadletter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"brine/event"
	"brine/ingest/internal/broker"
	"brine/internal/backoff"
)

const (
	extra        = 64 << 10  // bytes by which a dead letter may exceed its record
	maxBatchSize = 512 << 10 // bytes of records in one produce request, unless a single record is larger

	// settling is how long the brokers may take to know of a topic that was just created, and we of its leaders.
	settling = 10 * time.Second
)

// ErrNoTopic is in the chain of errors about a missing topic, for example if there has never been a dead letter.
var ErrNoTopic = broker.ErrNoTopic

// Options name a topic of dead letters and how to reach it.
type Options struct {
	Kafka          broker.Kafka
	RequestTimeout time.Duration // for one answer of a broker; default 10 s
	Source         string        // the topic whose records are kept
	Topic          string        // that holds the dead letters
}

func (o *Options) cluster(topics ...string) *broker.Cluster {
	if o.RequestTimeout == 0 {
		o.RequestTimeout = 10 * time.Second
	}
	return broker.New(o.Kafka, o.RequestTimeout, topics...)
}

// Topic writes dead letters to a topic. A dead letter goes to the partition of its record (modulo the topic's number of partitions), so
// that the dead letters of one partition keep their order. It is safe for concurrent use.
type Topic struct {
	cluster    *broker.Cluster
	name       string
	partitions int
	created    time.Time // when OpenTopic created it; zero: it was there
}

// OpenTopic finds the topic, or creates it with as many partitions as its source and room for the source's largest records.
func OpenTopic(ctx context.Context, c *broker.Cluster, name, source string, partitions int) (*Topic, error) {
	found, err := c.Topic(ctx, name)
	if errors.Is(err, ErrNoTopic) {
		if err := create(ctx, c, name, source, partitions); err != nil {
			return nil, fmt.Errorf("dead letters: creating topic %q: %w; create it, or give the user CREATE on it", name, err)
		}
		return &Topic{c, name, partitions, time.Now()}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("dead letters: %w", err)
	}
	return &Topic{c, name, found.Partitions, time.Time{}}, nil
}

func create(ctx context.Context, c *broker.Cluster, name, source string, partitions int) error {
	settings := map[string]string{"retention.ms": "-1"}
	if largest, err := c.LargestBatch(ctx, source); err == nil {
		settings["max.message.bytes"] = strconv.Itoa(largest + extra)
	}
	return c.Create(ctx, name, partitions, -1, settings)
}

// Room returns the size of the largest dead letter that the topic accepts, and the size that it should accept: the source's largest record
// plus 64 KiB. If one of the topics is missing, ErrNoTopic is in the chain of the error.
func Room(ctx context.Context, o Options) (takes, should int, err error) {
	c := o.cluster(o.Source, o.Topic)
	defer c.Close()
	for _, topic := range []string{o.Source, o.Topic} {
		if _, err := c.Topic(ctx, topic); err != nil {
			return 0, 0, err
		}
	}
	if should, err = c.LargestBatch(ctx, o.Source); err == nil {
		takes, err = c.LargestBatch(ctx, o.Topic)
	}
	return takes, should + extra, err
}

// Write returns nil only when all dead letters are durable. After an error, call it again with the same dead letters: readers ignore
// repeats.
func (t *Topic) Write(ctx context.Context, letters []Letter) error {
	byPartition := map[int][]*Letter{}
	for i := range letters {
		p := letters[i].Record.Partition % t.partitions
		byPartition[p] = append(byPartition[p], &letters[i])
	}
	return t.write(ctx, byPartition, func(l *Letter) []event.Record { return []event.Record{l.record()} })
}

// write produces the records of each dead letter, in batches.
func (t *Topic) write(ctx context.Context, byPartition map[int][]*Letter, form func(*Letter) []event.Record) error {
	for p, letters := range byPartition {
		from, size := 0, 0
		for i, l := range letters {
			n := l.Record.Size() + extra/16
			if size > 0 && size+n > maxBatchSize {
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

// produce writes one batch, compressed, because records that barely fit their own topic may be compressed there. If this topic refuses the
// batch because of its size, it sends each half separately.
func (t *Topic) produce(ctx context.Context, partition int, letters []*Letter, form func(*Letter) []event.Record) error {
	records := make([]event.Record, 0, len(letters))
	for _, l := range letters {
		records = append(records, form(l)...)
	}
	err := t.cluster.Produce(ctx, t.name, partition, records)
	for pauses := (backoff.Pauses{Base: 50 * time.Millisecond, Limit: time.Second}); broker.Unsettled(err) &&
		time.Since(t.created) < settling && pauses.Wait(ctx) == nil; {
		err = t.cluster.Produce(ctx, t.name, partition, records)
	}
	large := errors.Is(err, broker.ErrTooLarge)
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
		err = t.tooLarge(letters[0].Record, err)
	}
	return fmt.Errorf("dead letters to topic %q, partition %d: %w", t.name, partition, err)
}

// tooLarge describes how to change the topic so that it accepts the dead letter of a record.
func (t *Topic) tooLarge(rec *event.Record, err error) error {
	need := rec.Size() + extra
	return fmt.Errorf("the dead letter of partition %d, offset %d is too large: %w; raise the topic's max.message.bytes to at least %d "+
		"(kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config max.message.bytes=%d)",
		rec.Partition, rec.Offset, err, need, t.name, need)
}
