package brokers

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"brine/config"
	"brine/event"
	"brine/forecast"
	"brine/ingest"
	"brine/ingest/deadletter"
	"brine/ingest/offsets"
	"brine/internal/fault"
)

// Topics queries the brokers of a configuration about topics.
type Topics struct{ Config *config.Config }

// Each returns a pipeline as it is on each of the topics that it reads now, sorted by topic. Everything that reads several topics learns
// their names here. Each returns an error if no topic matches the pattern.
func Each(ctx context.Context, client *offsets.Client, p *config.Pipeline) ([]*config.Pipeline, error) {
	if !p.Several() {
		return []*config.Pipeline{p}, nil
	}
	names := p.Named()
	if p.TopicPattern != "" {
		all, err := client.TopicNames(ctx)
		if err != nil {
			return nil, Error(err)
		}
		if names = slices.DeleteFunc(all, func(name string) bool { return !p.Reads(name) }); len(names) == 0 {
			return nil, fault.New(fault.Missing, fmt.Errorf("pipeline %s: no topic matches its topic_pattern %s", p.Name, p.TopicPattern),
				"create one, or correct the pattern, which must match whole names")
		}
	}
	var parts []*config.Pipeline
	for _, name := range slices.Sorted(slices.Values(names)) {
		parts = append(parts, p.On(name))
	}
	return parts, nil
}

// EachHalf is Each for halves. If topic is not empty, it returns only the halves that read it.
func EachHalf(ctx context.Context, client *offsets.Client, halves []config.Half, topic string) (out []config.Half, err error) {
	if topic != "" {
		return onTopic(halves, topic)
	}
	for _, h := range halves {
		parts, err := Each(ctx, client, h.Pipeline)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			out = append(out, config.Half{Pipeline: p, Kind: h.Kind})
		}
	}
	return out, nil
}

// onTopic returns the halves that read a topic, as they are on it.
func onTopic(halves []config.Half, topic string) (on []config.Half, err error) {
	for _, h := range halves {
		if h.Pipeline.Reads(topic) {
			on = append(on, config.Half{Pipeline: h.Pipeline.On(topic), Kind: h.Kind})
		}
	}
	if len(on) == 0 {
		err = fault.Misused(fmt.Errorf("--topic: no selected pipeline reads topic %s", topic))
	}
	return on, err
}

// OfOneTopic checks that partitions and offsets given in a flag belong to a single topic of a pipeline.
func OfOneTopic(halves []config.Half, flag string) error {
	for i, h := range halves {
		if slices.ContainsFunc(halves[:i], func(other config.Half) bool { return other.Name() == h.Name() }) {
			return fault.Misused(fmt.Errorf("%s: pipeline %s reads several topics, each with its own partitions and offsets; "+
				"choose one with --topic",
				flag, h.Pipeline.Name))
		}
	}
	return nil
}

// Each is the function Each on the configuration's brokers.
func (t Topics) Each(ctx context.Context, p *config.Pipeline) ([]*config.Pipeline, error) {
	client := Open(&t.Config.Kafka)
	defer client.Close()
	return Each(ctx, client, p)
}

// EachHalf is the function EachHalf on the configuration's brokers.
func (t Topics) EachHalf(ctx context.Context, halves []config.Half, topic string) ([]config.Half, error) {
	client := Open(&t.Config.Kafka)
	defer client.Close()
	return EachHalf(ctx, client, halves, topic)
}

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

// Settings returns the named settings of a topic.
func (t Topics) Settings(ctx context.Context, topic string, names ...string) (map[string]string, error) {
	client := Open(&t.Config.Kafka)
	defer client.Close()
	settings, err := client.Settings(ctx, topic, names...)
	return settings, missingOr(err)
}

// missingOr returns ErrNoTopic if the topic does not exist, and otherwise the error with its fault kind.
func missingOr(err error) error {
	if offsets.NoTopic(err) {
		return ingest.ErrNoTopic
	}
	return Error(err)
}

// DeadLetterRoom returns the size of the largest record that the pipeline's dead-letter topic accepts, and the size that it should accept.
func (t Topics) DeadLetterRoom(ctx context.Context, p *config.Pipeline) (takes, should int, err error) {
	return deadletter.Room(ctx, t.Config.Ingest(p, p.RowsGroup()).DeadLetterTopicOptions())
}

// Sample returns a sample of n records from all over a topic.
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
