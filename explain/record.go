package explain

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"brine/event"
	"brine/ingest"
)

// Errors about the position of a record.
var (
	ErrNoPartition = errors.New("no such partition")
	ErrOutside     = errors.New("the offset is outside the log")
)

// read returns the record, or nil if the log has none at an offset within it.
func (x *explainer) read(ctx context.Context) (*event.Record, error) {
	o := x.opts
	ends, err := x.offsets.StableEnds(ctx, o.Topic)
	if err != nil {
		return nil, err
	}
	if o.Partition < 0 || o.Partition >= len(ends) {
		return nil, placed{ErrNoPartition, fmt.Sprintf("topic %q has no partition %d; it has %d, numbered from 0",
			o.Topic, o.Partition, len(ends))}
	}
	starts, err := x.offsets.Starts(ctx, o.Topic)
	if err != nil {
		return nil, err
	}
	if from, to := starts[o.Partition], ends[o.Partition]; o.Offset < from || o.Offset >= to {
		return nil, outside(o, from, to)
	}
	only := o.Kafka
	only.Topic = o.Topic
	reader := ingest.NewTopicReader(only)
	defer reader.Close()
	for rec, err := range reader.Records(ctx, o.Partition, o.Offset, o.Offset+1) {
		if err != nil {
			return nil, err
		}
		if rec.Offset == o.Offset {
			own := rec.Clone()
			return &own, nil
		}
	}
	return nil, nil //nolint:nilnil // compaction removed it, or it is not part of a committed transaction
}

func outside(o *Options, from, to int64) error {
	text := fmt.Sprintf("offset %d is not within partition %d of topic %q, ", o.Offset, o.Partition, o.Topic)
	if from == to {
		text += fmt.Sprintf("which is empty; its next offset is %d", to)
	} else {
		text += fmt.Sprintf("which has offsets %d to %d", from, to-1)
	}
	return placed{ErrOutside, text}
}

// placed is an error with its own text for a cause.
type placed struct {
	cause error
	text  string
}

func (p placed) Error() string { return p.text }
func (p placed) Unwrap() error { return p.cause }

const absent = "the log has no record at this offset: compaction removed it, it belongs to an aborted transaction, or it marks the end " +
	"of a transaction"

// describe returns the beginning of the report.
func (x *explainer) describe(rec *event.Record) *Report {
	r := &Report{Topic: x.opts.Topic, Partition: x.opts.Partition, Offset: x.opts.Offset, Pipelines: []Pipeline{}}
	if rec == nil {
		r.Absent = absent
		return r
	}
	r.Timestamp, r.Bytes, r.NoValue = &rec.Timestamp, len(rec.Key)+len(rec.Value), rec.Value == nil
	for _, h := range rec.Headers {
		r.Bytes += len(h.Key) + len(h.Value)
	}
	switch text := string(rec.Key); {
	case rec.Key == nil:
	case utf8.ValidString(text):
		r.Key = &text
	default:
		r.KeyBytes = rec.Key
	}
	return r
}
