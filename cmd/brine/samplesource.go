package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"brine/config"
	"brine/event"
	"brine/internal/sample"
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

// openSample finds what --sample names: topic:NAME, topic:NAME@N or a file of records for these pipelines; none: for all.
func openSample(ctx context.Context, cfg *config.Config, name string, pipelines ...string) (sampleSource, error) {
	if name, ok := strings.CutPrefix(name, "topic:"); ok {
		return openTopicSample(ctx, cfg, name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, usage(fmt.Errorf("--sample: %w; name a file of JSON lines or CSV, or topic:NAME", err))
	}
	if info.IsDir() {
		return nil, usage(fmt.Errorf("--sample: %s is a folder; name a file of JSON lines or CSV", name))
	}
	file := fileSample{name: name, now: time.Now().UnixMilli()}
	if isCSV(name) {
		return openCSVSample(cfg, file, pipelines)
	}
	return &file, nil
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
		if n-end > sample.MaxLine {
			return usage(fmt.Errorf("--sample: %s: line %d has more than %d MiB; is it a file of JSON lines?", f.name, line, sample.MaxLine>>20))
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

// lines returns the records of whole lines; empty lines are none.
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

// sampledRecords is how many records of a topic are read unless the user says.
const sampledRecords = 100_000

// offsetBits is how much of a place the offset takes.
const offsetBits = 44

// recordsAtOnce is how many records of a topic are fetched before a worker is given them.
const recordsAtOnce = 10_000

// heldSample is records of a topic that are in memory. Their cells are not measured.
type heldSample []event.Record

func (heldSample) topic() string         { return "" }
func (heldSample) place(at int64) string { return (*topicSample)(nil).place(at) }

func (s heldSample) read(_ context.Context, emit func(block) error) error {
	return emit(block{records: placed(s)})
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
