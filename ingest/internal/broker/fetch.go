package broker

import (
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	fetchapi "github.com/segmentio/kafka-go/protocol/fetch"
)

// Limits of a fetch.
const (
	MinFetchBytes  = 64 << 10           // the fewest bytes that a fetch requests
	MaxFetchBytes  = maxAnswerBytes / 2 // the most
	maxAnswerBytes = 1 << 30
	// An answer may exceed the request by a record batch, because brokers send batches whole; 20 MiB is the largest usual batch.
	spareAnswerBytes = 32 << 20
	FetchMaxWait     = 500 * time.Millisecond // how long a broker waits for records to arrive
	// We read fetch answers of versions 4 (the first with isolation levels) to 11 (the last that kafka-go writes).
	minFetchVersion, maxFetchVersion = 4, 11
)

// fetchCall is one fetch of one partition, which kafka-go's Transport sends to the partition's leader. It reads its answer itself
// (protocol.RawExchanger), into the chunk that it was made with.
//
// The exchange runs on a goroutine of the Transport, and goes on when the caller has given up. The chunk is then never reused.
type fetchCall struct {
	topic     string
	partition int
	offset    int64
	maxBytes  int32
	client    string
	into      *Chunk
	limit     int64 // on the answer, in bytes

	version int16
}

// fetchAnswer is a broker's answer. batches points into the chunk's answer.
type fetchAnswer struct {
	err           error
	highWatermark int64
	stable        int64 // the last stable offset: readers of committed records get nothing from here on
	logStart      int64 // −1 if the broker does not send it
	aborted       aborts
	batches       []byte
}

func (*fetchCall) ApiKey() protocol.ApiKey   { return protocol.Fetch }
func (*fetchAnswer) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Broker routes the call to the partition's leader.
func (f *fetchCall) Broker(c protocol.Cluster) (protocol.Broker, error) { return f.request().Broker(c) }

// Required notes the version that the connection has negotiated.
func (f *fetchCall) Required(versions map[protocol.ApiKey]int16) bool {
	f.version = min(versions[protocol.Fetch], maxFetchVersion)
	return true
}

func (f *fetchCall) request() *fetchapi.Request {
	return &fetchapi.Request{
		ReplicaID:      -1,
		MaxWaitTime:    int32(FetchMaxWait / time.Millisecond),
		MinBytes:       1,
		MaxBytes:       f.maxBytes,
		IsolationLevel: int8(kafka.ReadCommitted),
		SessionEpoch:   -1,
		Topics: []fetchapi.RequestTopic{{
			Topic: f.topic,
			Partitions: []fetchapi.RequestPartition{{
				Partition:          int32(f.partition),
				CurrentLeaderEpoch: -1,
				FetchOffset:        f.offset,
				LogStartOffset:     -1,
				PartitionMaxBytes:  f.maxBytes,
			}},
		}},
	}
}

// RawExchange writes the request and reads the whole answer.
func (f *fetchCall) RawExchange(rw io.ReadWriter) (_ protocol.Message, err error) {
	if f.version < minFetchVersion {
		return nil, fmt.Errorf("the broker's fetch version is %d; at least %d is needed (Kafka 0.11)", f.version, minFetchVersion)
	}
	id := int32(f.offset) // a connection has only one pending call, so any number will do
	if err := protocol.WriteRequest(rw, f.version, id, f.client, f.request()); err != nil {
		return nil, err
	}
	if f.into.answer, err = readAnswer(rw, id, f.limit); err != nil {
		return nil, err
	}
	return f.parse(f.into.answer.b)
}

// parse reads a fetch answer of one partition, versions 4 to 11.
func (f *fetchCall) parse(b []byte) (*fetchAnswer, error) {
	r := reader{b: b}
	a := &fetchAnswer{logStart: -1}
	r.skip(4) // throttle time
	var whole int16
	if f.version >= 7 {
		whole = r.int16()
		r.skip(4) // session
	}
	if n := r.int32(); n != 1 && whole == 0 {
		return nil, fmt.Errorf("fetch answer with %d topics, expected 1", n)
	}
	r.skip(int(r.int16())) // the topic's name
	if n := r.int32(); n != 1 && whole == 0 {
		return nil, fmt.Errorf("fetch answer with %d partitions, expected 1", n)
	}
	r.skip(4) // the partition
	code := r.int16()
	a.highWatermark, a.stable = r.int64(), r.int64()
	if f.version >= 5 {
		a.logStart = r.int64()
	}
	for n := r.int32(); n > 0 && !r.bad; n-- {
		producer := r.int64()
		a.aborted.add(producer, r.int64())
	}
	if f.version >= 11 {
		r.skip(4) // preferred read replica
	}
	if n := r.int32(); n > 0 {
		a.batches = r.bytes(int(n))
	}
	switch {
	case whole != 0:
		a.err = kafka.Error(whole)
	case code != 0:
		a.err = kafka.Error(code)
	case r.bad:
		return nil, fmt.Errorf("fetch answer of %d bytes is cut off", len(b))
	}
	return a, nil
}
