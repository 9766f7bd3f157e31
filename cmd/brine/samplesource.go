package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/segmentio/kafka-go"

	"brine/config"
	"brine/event"
	"brine/plan"
)

// sampleSource gives sampled records, the same whenever it is read.
type sampleSource interface {
	// read hands out blocks in the order of the sample. Each record comes with its place.
	read(ctx context.Context, emit func(block) error) error
	// place says where a record lies.
	place(at int64) string
	// topic is the one that was sampled; empty for a file.
	topic() string
}

// block is some records of a sample, for one worker.
type block struct {
	first   int64 // number of records before it, or a little more
	records iter.Seq2[int64, *event.Record]
}

// openSample finds what --sample names: topic:NAME, topic:NAME@N or a file.
func openSample(ctx context.Context, cfg *config.Config, name string) (sampleSource, error) {
	if name, ok := strings.CutPrefix(name, "topic:"); ok {
		return openTopicSample(ctx, cfg, name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, usage(fmt.Errorf("--sample: %w; name a file of JSON lines, or topic:NAME", err))
	}
	if info.IsDir() {
		return nil, usage(fmt.Errorf("--sample: %s is a folder; name a file of JSON lines", name))
	}
	return &fileSample{name: name, now: time.Now().UnixMilli()}, nil
}

// fileSample is a file of JSON lines, also gzipped. A record's place is its line, from 1.
type fileSample struct {
	name string
	now  int64 // the records' time, ms since 1970
}

func (f *fileSample) topic() string         { return "" }
func (f *fileSample) place(at int64) string { return "line " + thousands(at) }

// blockBytes is how much of a file a worker is given at once.
const blockBytes = 1 << 20

func (f *fileSample) read(ctx context.Context, emit func(block) error) error {
	file, err := os.Open(f.name)
	if err != nil {
		return usage(fmt.Errorf("--sample: %w", err))
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(f.name, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			return usage(fmt.Errorf("--sample: %s: %w", f.name, err))
		}
	}
	line, rest := int64(1), []byte(nil)
	for ended := false; !ended; {
		buf := make([]byte, max(blockBytes, 2*len(rest)))
		n, err := fill(r, buf, copy(buf, rest))
		if ended = errors.Is(err, io.EOF); err != nil && !ended {
			return usage(fmt.Errorf("--sample: %s: %w", f.name, err))
		}
		end := n
		if !ended {
			end = bytes.LastIndexByte(buf[:n], '\n') + 1
		}
		if n-end > maxLine {
			return usage(fmt.Errorf("--sample: %s: line %d has more than %d MiB; is it a file of JSON lines?", f.name, line, maxLine>>20))
		}
		if err := emit(block{first: line, records: f.lines(line, buf[:end])}); err != nil {
			return err
		}
		line += int64(bytes.Count(buf[:end], []byte{'\n'}))
		rest = buf[end:n]
	}
	return nil
}

// fill reads until buf is full; its first n bytes are there already.
func fill(r io.Reader, buf []byte, n int) (int, error) {
	for n < len(buf) {
		read, err := r.Read(buf[n:])
		if n += read; err != nil {
			return n, err
		}
	}
	return n, nil
}

// lines gives the records of whole lines; empty lines are none.
func (f *fileSample) lines(line int64, text []byte) iter.Seq2[int64, *event.Record] {
	return func(yield func(int64, *event.Record) bool) {
		rec := event.Record{Topic: f.name, Timestamp: f.now}
		for ; len(text) > 0; line++ {
			var value []byte
			value, text, _ = bytes.Cut(text, []byte{'\n'})
			if rec.Value = bytes.TrimSuffix(value, []byte{'\r'}); len(rec.Value) > 0 && !yield(line, &rec) {
				return
			}
		}
	}
}

// topicSample is the oldest records of a topic, as many of each partition. A record's place is its partition and offset.
type topicSample struct {
	kafka    *config.Kafka
	name     string
	from, to []int64 // by partition
}

// sampledRecords is how many records of a topic are read unless the user says.
const sampledRecords = 100_000

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

// startOffsets gives the first offset of each partition of a topic.
func startOffsets(ctx context.Context, client *kafka.Client, topic string, partitions int) ([]int64, error) {
	asked := make([]kafka.OffsetRequest, partitions)
	for i := range asked {
		asked[i] = kafka.FirstOffsetOf(i)
	}
	resp, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: asked}})
	if err != nil {
		return nil, err
	}
	starts := make([]int64, partitions)
	for _, p := range resp.Topics[topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("topic %s, partition %d: %w", topic, p.Partition, p.Error)
		}
		starts[p.Partition] = p.FirstOffset
	}
	return starts, nil
}

func (s *topicSample) topic() string { return s.name }

// offsetBits is how much of a place the offset takes.
const offsetBits = 44

func (s *topicSample) place(at int64) string {
	return fmt.Sprintf("partition %d, offset %d", at>>offsetBits, at&(1<<offsetBits-1))
}

// recordsAtOnce is how many records of a topic are fetched before a worker is given them.
const recordsAtOnce = 10_000

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

// heldSample is records of a topic that are in memory. Their cells are not measured.
type heldSample []event.Record

func (heldSample) topic() string         { return "" }
func (heldSample) place(at int64) string { return (*topicSample)(nil).place(at) }

func (s heldSample) read(_ context.Context, emit func(block) error) error {
	return emit(block{first: plan.MeasuredEvents, records: placed(s)})
}

func placed(records []event.Record) iter.Seq2[int64, *event.Record] {
	return func(yield func(int64, *event.Record) bool) {
		for i := range records {
			if r := &records[i]; !yield(int64(r.Partition)<<offsetBits|r.Offset, r) {
				return
			}
		}
	}
}
