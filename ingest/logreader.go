package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/event"
)

// TopicReader reads records of a topic without a group, as for samples.
type TopicReader struct {
	cluster *cluster
	topic   string
}

// NewTopicReader makes a reader of the options' topic. It connects to nothing yet.
func NewTopicReader(o Options) *TopicReader {
	o.EnsureDefaults()
	return &TopicReader{newCluster(o.Kafka, o.RequestTimeout, o.Topic), o.Topic}
}

// Records reads offsets from up to, and without, to of a partition, as the loop does: those of aborted transactions are left out. A
// record is valid until the next.
func (r *TopicReader) Records(ctx context.Context, partition int, from, to int64) iter.Seq2[*event.Record, error] {
	return r.cluster.logRange(ctx, r.topic, partition, from, to)
}

// Close ends all requests.
func (r *TopicReader) Close() { r.cluster.close() }

// logRange reads the records of offsets from up to, and without, to of one partition. Requests that fail are made again until nothing has come for the cluster's request time-out. A record is valid until the next.
func (c *cluster) logRange(ctx context.Context, topic string, partition int, from, to int64) iter.Seq2[*event.Record, error] {
	return func(yield func(*event.Record, error) bool) {
		ask, came := int64(1<<20), time.Now()
		pauses := &pauses{base: 50 * time.Millisecond, limit: time.Second}
		for from < to {
			chunk, err := c.chunkAt(ctx, topic, partition, from, to, ask)
			switch {
			case errors.Is(err, kafka.OffsetOutOfRange):
				if from, err = c.pastGap(ctx, topic, partition, from, to); err == nil {
					continue
				}
			case err == nil && chunk.next == from: // nothing yet, or one that is larger than asked for
				if chunk.sent > int(ask)/2 {
					ask *= 2
				}
				chunk.release()
				err = errNothingCame
			}
			if err != nil {
				if ctx.Err() == nil && time.Since(came) < c.timeout && pauses.wait(ctx) == nil {
					continue
				}
				yield(nil, fmt.Errorf("topic %q, partition %d, offset %d: %w", topic, partition, from, errors.Join(ctx.Err(), err)))
				return
			}
			for i := range chunk.records {
				if !yield(&chunk.records[i], nil) {
					chunk.release()
					return
				}
			}
			from, came, pauses.failures = chunk.next, time.Now(), 0
			chunk.release()
		}
	}
}

var errNothingCame = errors.New("no records came")

// chunkAt makes one fetch.
func (c *cluster) chunkAt(ctx context.Context, topic string, partition int, from, to, ask int64) (*chunk, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchMaxWait+c.timeout)
	defer cancel()
	into := newChunk(topic, partition)
	m, err := c.RoundTrip(ctx, c.client.Addr, &fetchCall{
		topic: topic, partition: partition, offset: from, maxBytes: int32(min(ask, maxAnswerBytes/2)), client: c.kafka.ClientID, into: into,
		limit: ask + spareAnswerBytes,
	})
	if err != nil {
		return nil, err // into may still be written to by the call: it is not used again
	}
	if err := into.take(m.(*fetchAnswer), from, to); err != nil {
		into.release()
		return nil, err
	}
	return into, nil
}

// pastGap returns where to go on when offsets have left the log since the range was asked for.
func (c *cluster) pastGap(ctx context.Context, topic string, partition int, from, to int64) (int64, error) {
	low, err := c.offset(ctx, topic, partition, oldest)
	if err != nil {
		return from, err
	}
	if low <= from {
		return from, kafka.OffsetOutOfRange
	}
	return min(low, to), nil
}
