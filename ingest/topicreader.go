package ingest

import (
	"context"
	"iter"

	"brine/event"
	"brine/ingest/internal/broker"
)

// TopicReader reads records of a topic without a group, as for samples.
type TopicReader struct {
	cluster *broker.Cluster
	topic   string
}

// NewTopicReader makes a reader of the options' topic. It connects to nothing yet.
func NewTopicReader(o Options) *TopicReader {
	o.EnsureDefaults()
	return &TopicReader{broker.New(o.Kafka, o.RequestTimeout, o.Topic), o.Topic}
}

// Records reads offsets from up to, and without, to of a partition, as the loop does: those of aborted transactions are left out. A
// record is valid until the next.
func (r *TopicReader) Records(ctx context.Context, partition int, from, to int64) iter.Seq2[*event.Record, error] {
	return r.cluster.Records(ctx, r.topic, partition, from, to)
}

// Close ends all requests.
func (r *TopicReader) Close() { r.cluster.Close() }
