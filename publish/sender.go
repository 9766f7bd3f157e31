package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/ingest"
)

// Sender appends single records to partitions, at least once: the caller decides about a request without an answer. It is safe for
// concurrent use.
type Sender struct {
	client    *kafka.Client
	transport *kafka.Transport
}

// ErrNever is the error of records that the brokers will not accept, now or later.
var ErrNever = errors.New("the brokers do not accept it")

// never are the answers after which none of a request's records has been stored.
var never = []kafka.Error{kafka.MessageSizeTooLarge, kafka.InvalidRecord, kafka.TopicAuthorizationFailed, kafka.ClusterAuthorizationFailed,
	kafka.InvalidTopic, kafka.PolicyViolation, kafka.RecordListTooLarge, kafka.InvalidTimestamp, kafka.UnsupportedForMessageFormat}

// NewSender returns a sender that is not connected yet.
func NewSender(k ingest.Kafka, requestTimeout time.Duration) *Sender {
	transport := k.Transport()
	return &Sender{transport: transport, client: &kafka.Client{Addr: kafka.TCP(k.Brokers...), Timeout: requestTimeout, Transport: transport}}
}

// Close ends its connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// Send appends records to a partition and returns the offset of the first. Each may have one header with this name; empty: none.
func (s *Sender) Send(ctx context.Context, topic string, partition int, records []Record, header string, values []string) (int64, error) {
	list := kafkaRecords(records)
	for i := range list {
		if header != "" {
			list[i].Headers = []kafka.Header{{Key: header, Value: []byte(values[i])}}
		}
	}
	resp, err := s.client.Produce(ctx, &kafka.ProduceRequest{
		Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(list...),
	})
	if err != nil {
		return 0, fmt.Errorf("publish to %s/%d: %w", topic, partition, err)
	}
	if code, ok := errors.AsType[kafka.Error](resp.Error); ok && slices.Contains(never, code) {
		return 0, fmt.Errorf("publish to %s/%d: %w: %w", topic, partition, ErrNever, code)
	}
	if resp.Error != nil {
		return 0, fmt.Errorf("publish to %s/%d: %w", topic, partition, resp.Error)
	}
	return resp.BaseOffset, nil
}
