package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"brine/config"
	"brine/event"
)

// topicSample is the oldest records of a topic, as many of each partition. A record's place is its partition and offset.
type topicSample struct {
	kafka    *config.Kafka
	name     string
	from, to []int64 // by partition
}

// openTopicSample settles which records are read, so that a second reading reads the same.
func openTopicSample(ctx context.Context, cfg *config.Config, name string) (*topicSample, error) {
	n := int64(sampledRecords)
	if topic, count, ok := strings.Cut(name, "@"); ok {
		var err error
		if n, err = strconv.ParseInt(count, 10, 64); err != nil || n < 1 {
			return nil, usage(fmt.Errorf("--sample topic:%s: write topic:NAME@N with a number of records N", name))
		}
		name = topic
	}
	if name == "" {
		return nil, usage(errors.New("--sample topic: names no topic; write topic:NAME, or topic:NAME@N for N records"))
	}
	s := &topicSample{kafka: &cfg.Kafka, name: name}
	client := kafkaClient(s.kafka)
	ends, err := stableOffsets(ctx, client, name)
	if err != nil {
		return nil, kafkaError(err)
	}
	if s.from, err = startOffsets(ctx, client, name, len(ends)); err != nil {
		return nil, kafkaError(err)
	}
	share := (n + int64(len(ends)) - 1) / int64(len(ends))
	for partition, end := range ends {
		s.to = append(s.to, min(end, s.from[partition]+share))
	}
	return s, nil
}

func (s *topicSample) topic() string { return s.name }

func (s *topicSample) place(at int64) string {
	return fmt.Sprintf("partition %d, offset %d", at>>offsetBits, at&(1<<offsetBits-1))
}

func (s *topicSample) read(ctx context.Context, emit func(block) error) error {
	reader := topicReader(s.kafka, s.name)
	defer reader.Close()
	number, records := int64(0), []event.Record(nil)
	hand := func() error {
		first := number
		number += int64(len(records))
		err := emit(block{first: first, records: placed(records)})
		records = nil // those are the worker's
		return err
	}
	for partition, to := range s.to {
		for r, err := range reader.Records(ctx, partition, s.from[partition], to) {
			if err != nil {
				return err
			}
			if records = append(records, heldRecord(r)); len(records) < recordsAtOnce {
				continue
			}
			if err := hand(); err != nil {
				return err
			}
		}
	}
	return hand()
}
