package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/valyala/fastjson"

	"brine/ingest"
)

// keyed makes records of JSON objects, each with the text of one of its fields as its key: records of one key stay in order.
func keyed(objects iter.Seq2[[]byte, error], field string) iter.Seq2[sourceRecord, error] {
	return func(yield func(sourceRecord, error) bool) {
		for value, err := range objects {
			if err != nil {
				yield(sourceRecord{}, err)
				return
			}
			key := fastjson.GetBytes(value, field)
			if key == nil {
				yield(sourceRecord{}, fmt.Errorf("%s has no text field %q to key it by", value, field))
				return
			}
			if !yield(sourceRecord{Key: key, Value: value}, nil) {
				return
			}
		}
	}
}

// certain makes a sequence that may fail of one that does not.
func certain(events iter.Seq[[]byte]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for event := range events {
			if !yield(event, nil) {
				return
			}
		}
	}
}

// publisher puts a fixed sequence of records into a topic, each exactly once however often it is begun again. It can,
// because the sequence and the partition of each record are always the same: the end offset of a partition says how many of its records are there.
type publisher struct {
	client *kafka.Client
	kafka  ingest.Kafka // where client publishes, to read what is there
	topic  string
	pause  func(ctx context.Context) error // called before each request; nil means none
	sent   func(n int)                     // told of each acknowledged request; nil means nobody
	shared bool                            // others may have published there: as many records as theirs are passed over
}

// sourceRecord is one record to publish.
type sourceRecord struct {
	Key, Value []byte
	Time       time.Time // zero: when it is published
}

// publishBatch is how many records go into one request.
const publishBatch = 500

// publish puts the records that are not there yet, and gives how many it put.
func (p *publisher) publish(ctx context.Context, records iter.Seq2[sourceRecord, error]) (int, error) {
	ends, err := endOffsets(ctx, p.client, p.topic)
	if err != nil {
		return 0, err
	}
	partitions := make([]int, len(ends))
	skip := make([]int64, len(ends))
	pending := make([][]sourceRecord, len(ends))
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
			if skip[part]--; skip[part] == 0 && !p.shared {
				if err := p.same(ctx, part, ends[part]-1, r); err != nil {
					return n, err
				}
			}
			continue
		}
		pending[part] = append(pending[part], r)
		if len(pending[part]) == publishBatch {
			if err := p.send(ctx, part, &ends[part], pending[part]); err != nil {
				return n, err
			}
			n += publishBatch
			pending[part] = pending[part][:0]
		}
	}
	for part, rest := range pending {
		if err := p.send(ctx, part, &ends[part], rest); err != nil {
			return n, err
		}
		n += len(rest)
	}
	return n, nil
}

// same makes sure that the last record that a partition holds is the one that belongs there: were it someone else's, records that are not
// there would be passed over.
func (p *publisher) same(ctx context.Context, part int, offset int64, want sourceRecord) error {
	reader := ingest.NewTopicReader(ingest.Options{Kafka: p.kafka, RequestTimeout: p.client.Timeout, Topic: p.topic})
	defer reader.Close()
	for found, err := range reader.Records(ctx, part, offset, offset+1) {
		if err != nil {
			return err
		}
		if !bytes.Equal(found.Value, want.Value) {
			return fmt.Errorf("partition %d of topic %s holds at offset %d what is not of this sequence: something else was published there", part, p.topic, offset)
		}
	}
	return nil
}

// send puts records at the end of a partition. After an unclear answer the end offset says whether they are there.
func (p *publisher) send(ctx context.Context, part int, end *int64, records []sourceRecord) error {
	if len(records) == 0 {
		return nil
	}
	if p.pause != nil {
		if err := p.pause(ctx); err != nil {
			return err
		}
	}
	for attempt := 0; ; attempt++ {
		resp, err := p.client.Produce(ctx, &kafka.ProduceRequest{
			Topic: p.topic, Partition: part, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(kafkaRecords(records)...),
		})
		if err == nil {
			err = resp.Error
		}
		if err == nil {
			break
		}
		if attempt == 5 || ctx.Err() != nil {
			return fmt.Errorf("publish to %s/%d: %w", p.topic, part, err)
		}
		ends, lookErr := endOffsets(ctx, p.client, p.topic)
		if lookErr != nil {
			return errors.Join(err, lookErr)
		}
		if ends[part] == *end+int64(len(records)) {
			break
		}
	}
	*end += int64(len(records))
	if p.sent != nil {
		p.sent(len(records))
	}
	return nil
}

// kafkaRecords makes the records of one attempt: kafka-go reads their bytes only once.
func kafkaRecords(records []sourceRecord) []kafka.Record {
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
