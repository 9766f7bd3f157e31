package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/ingest"
	"brine/ingest/offsets"
)

// Appender appends a fixed sequence of records to a topic that nobody else publishes to, each exactly once however often it is restarted.
// It can, because the sequence and the partition of each record never change: the end offset of a partition shows how many of its records
// are there.
type Appender struct {
	Kafka          ingest.Kafka
	RequestTimeout time.Duration // for one answer of a broker
	Topic          string
	Ends           func(ctx context.Context) ([]int64, error) // returns the next offset of each partition of Topic; nil: ask the brokers
	Pause          func(ctx context.Context) error            // called before each request; nil means none
	Sent           func(n int)                                // called after each acknowledged request; nil: no call
	Shared         bool                                       // others may have published there: as many records as theirs are skipped

	client *kafka.Client // of one Publish, like ends
	ends   func(ctx context.Context) ([]int64, error)
}

// AppendBatch is the number of records that an Appender puts into one request.
const AppendBatch = 500

// Publish appends the records that are not there yet and returns their number.
func (a *Appender) Publish(ctx context.Context, records iter.Seq2[Record, error]) (int, error) {
	transport := a.Kafka.Transport()
	defer transport.CloseIdleConnections()
	a.client = &kafka.Client{Addr: kafka.TCP(a.Kafka.Brokers...), Timeout: a.RequestTimeout, Transport: transport}
	a.ends = a.Ends
	if a.ends == nil {
		lookUps := offsets.Open(a.Kafka, a.RequestTimeout)
		defer lookUps.Close()
		a.ends = func(ctx context.Context) ([]int64, error) { return lookUps.Ends(ctx, a.Topic) }
	}
	ends, err := a.ends(ctx)
	if err != nil {
		return 0, err
	}
	partitions := make([]int, len(ends))
	skip := make([]int64, len(ends))
	pending := make([][]Record, len(ends))
	for i := range partitions {
		partitions[i], skip[i] = i, ends[i]
	}
	balancer := kafka.Murmur2Balancer{Consistent: true}
	n := 0
	for r, err := range records {
		if err != nil {
			return n, err
		}
		part := balancer.Balance(kafka.Message{Key: r.Key}, partitions...)
		if skip[part] > 0 {
			if skip[part]--; skip[part] == 0 && !a.Shared {
				if err := a.same(ctx, part, ends[part]-1, r); err != nil {
					return n, err
				}
			}
			continue
		}
		pending[part] = append(pending[part], r)
		if len(pending[part]) == AppendBatch {
			if err := a.send(ctx, part, &ends[part], pending[part]); err != nil {
				return n, err
			}
			n += AppendBatch
			pending[part] = pending[part][:0]
		}
	}
	for part, rest := range pending {
		if err := a.send(ctx, part, &ends[part], rest); err != nil {
			return n, err
		}
		n += len(rest)
	}
	return n, nil
}

// same returns an error unless the last record of a partition is the one that belongs there: if it were someone else's, missing records
// would be skipped.
func (a *Appender) same(ctx context.Context, part int, offset int64, want Record) error {
	reader := ingest.NewTopicReader(ingest.Options{Kafka: a.Kafka, RequestTimeout: a.RequestTimeout, Topic: a.Topic})
	defer reader.Close()
	for found, err := range reader.Records(ctx, part, offset, offset+1) {
		if err != nil {
			return err
		}
		if !bytes.Equal(found.Value, want.Value) {
			return fmt.Errorf("partition %d of topic %s has a record at offset %d that is not part of this sequence: something else was "+
				"published there", part, a.Topic, offset)
		}
	}
	return nil
}

// send appends records to a partition. After an ambiguous answer, the end offset shows whether they are there.
func (a *Appender) send(ctx context.Context, part int, end *int64, records []Record) error {
	if len(records) == 0 {
		return nil
	}
	if a.Pause != nil {
		if err := a.Pause(ctx); err != nil {
			return err
		}
	}
	for attempt := 0; ; attempt++ {
		resp, err := a.client.Produce(ctx, &kafka.ProduceRequest{
			Topic: a.Topic, Partition: part, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(kafkaRecords(records)...),
		})
		if err == nil {
			err = resp.Error
		}
		if err == nil {
			break
		}
		if attempt == 5 || ctx.Err() != nil {
			return fmt.Errorf("publish to %s/%d: %w", a.Topic, part, err)
		}
		ends, lookErr := a.ends(ctx)
		if lookErr != nil {
			return errors.Join(err, lookErr)
		}
		if ends[part] == *end+int64(len(records)) {
			break
		}
	}
	*end += int64(len(records))
	if a.Sent != nil {
		a.Sent(len(records))
	}
	return nil
}

// kafkaRecords makes the records of one attempt: kafka-go reads their bytes only once.
func kafkaRecords(records []Record) []kafka.Record {
	out := make([]kafka.Record, len(records))
	now := time.Now()
	for i, r := range records {
		out[i] = kafka.Record{Key: kafka.NewBytes(r.Key), Value: kafka.NewBytes(r.Value), Time: now}
		if !r.Time.IsZero() {
			out[i].Time = r.Time
		}
	}
	return out
}
