package brokers

import (
	"context"
	"iter"

	"brine/config"
	"brine/event"
	"brine/forecast"
	"brine/ingest"
	"brine/ingest/deadletter"
	"brine/ingest/offsets"
)

// Topics asks the brokers of a configuration about topics.
type Topics struct{ Config *config.Config }

// Latest returns about n of a topic's latest records, spread over its partitions.
func (t Topics) Latest(ctx context.Context, topic string, n int) ([]event.Record, error) {
	k := &t.Config.Kafka
	client := Open(k)
	defer client.Close()
	ends, err := client.StableEnds(ctx, topic)
	if err != nil {
		return nil, missingOr(err)
	}
	reader := NewReader(k, topic)
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
func (t Topics) Settings(ctx context.Context, topic string, names ...string) (map[string]string, error) {
	client := Open(&t.Config.Kafka)
	defer client.Close()
	settings, err := client.Settings(ctx, topic, names...)
	return settings, missingOr(err)
}

// missingOr is ErrNoTopic where an error says so, and else the error with its kind.
func missingOr(err error) error {
	if offsets.NoTopic(err) {
		return ingest.ErrNoTopic
	}
	return Error(err)
}

// DeadLetterRoom returns how large a record the pipeline's topic of dead letters takes, and how large a one it should.
func (t Topics) DeadLetterRoom(ctx context.Context, p *config.Pipeline) (takes, should int, err error) {
	return deadletter.Room(ctx, t.Config.Ingest(p, p.RowsGroup()).DeadLetterTopicOptions())
}

// Sample returns a sample of n records of a topic, from all over it.
func (t Topics) Sample(ctx context.Context, topic string, n int64) (forecast.Sample, error) {
	k := &t.Config.Kafka
	client := Open(k)
	defer client.Close()
	ends, err := client.StableEnds(ctx, topic)
	if err != nil {
		return nil, Error(err)
	}
	starts, err := client.Starts(ctx, topic)
	if err != nil {
		return nil, Error(err)
	}
	records := func(ctx context.Context, partition int, from, to int64) iter.Seq2[*event.Record, error] {
		return func(yield func(*event.Record, error) bool) {
			reader := NewReader(k, topic)
			defer reader.Close()
			reader.Records(ctx, partition, from, to)(yield)
		}
	}
	return forecast.OfTopic(n, starts, ends, records), nil
}
