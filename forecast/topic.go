package forecast

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"brine/event"
)

// TopicRecords is the default number of records to sample from a topic.
const TopicRecords = 100_000

// ParseTopic parses NAME or NAME@N, where N is the number of records to sample. The error is a *SampleError.
func ParseTopic(text string) (topic string, n int64, err error) {
	topic, number, ok := strings.Cut(text, "@")
	n = TopicRecords
	if ok {
		if n, err = strconv.ParseInt(number, 10, 64); err != nil || n < 1 {
			return "", 0, badSample("topic:%s: write topic:NAME@N with a number of records N", text)
		}
	}
	if topic == "" {
		return "", 0, &SampleError{errors.New("topic: names no topic; write topic:NAME, or topic:NAME@N for N records")}
	}
	return topic, n, nil
}

// Records reads a partition's records with offsets from up to, but not including, to. A record is valid until the next.
type Records func(ctx context.Context, partition int, from, to int64) iter.Seq2[*event.Record, error]

// topicSample is the oldest records of a topic. A record's place is its partition and offset.
type topicSample struct {
	from, to []int64 // by partition
	records  Records
}

// OfTopic returns the sample of a topic's oldest n records, the same number from each partition. starts and ends are the first offset of
// each partition and the one after the last. The range is fixed now, so that a second reading reads the same records.
func OfTopic(n int64, starts, ends []int64, records Records) Sample {
	s := &topicSample{from: starts, records: records}
	share := (n + int64(len(ends)) - 1) / int64(len(ends))
	for partition, end := range ends {
		s.to = append(s.to, min(end, starts[partition]+share))
	}
	return s
}

// offsetBits is the number of bits of the offset in a place.
const offsetBits = 44

func placeOf(r *event.Record) int64 { return int64(r.Partition)<<offsetBits | r.Offset }

func describeOffset(place int64) string {
	return fmt.Sprintf("partition %d, offset %d", place>>offsetBits, place&(1<<offsetBits-1))
}

func (s *topicSample) describe(place int64) string { return describeOffset(place) }

// blockRecords is the number of records of a topic in a block.
const blockRecords = 10_000

func (s *topicSample) read(ctx context.Context, emit func(block) error) error {
	number, records := int64(0), []event.Record(nil)
	flush := func() error {
		first := number
		number += int64(len(records))
		err := emit(block{first: first, records: placed(records)})
		records = nil // they belong to the worker
		return err
	}
	for partition, to := range s.to {
		for r, err := range s.records(ctx, partition, s.from[partition], to) {
			if err != nil {
				return err
			}
			if records = append(records, r.Clone()); len(records) < blockRecords {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// heldSample is records of a topic that are in memory.
type heldSample []event.Record

// OfRecords returns the sample of a topic's records that are in memory.
func OfRecords(records []event.Record) Sample { return heldSample(records) }

func (heldSample) describe(place int64) string { return describeOffset(place) }

func (s heldSample) read(_ context.Context, emit func(block) error) error {
	return emit(block{records: placed(s)})
}

func placed(records []event.Record) iter.Seq2[int64, *event.Record] {
	return func(yield func(int64, *event.Record) bool) {
		for i := range records {
			if r := &records[i]; !yield(placeOf(r), r) {
				return
			}
		}
	}
}
