// Package explain answers what became of one record, and why: what pipelines make of it, whether that is in the tables and indexes, and
// whether it is settled, left out or a dead letter.
//
// What is expected is made by the code that writes: the decoder, the sink's own mutations and the indexer's own documents, recorded
// instead of sent. Nothing is written, and no group is joined.
//
// The path of an answer: record.go reads the record; decode.go makes its events; rows.go and documents.go say what each would write and
// hold it against what is there; letters.go looks for its dead letters; outcome.go draws the conclusion for each half of a pipeline.
// report.go is the answer as JSON, print.go as text.
package explain

import (
	"context"
	"fmt"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
	"brine/sink"
)

// Options say which record is meant, and what is asked about it.
type Options struct {
	Topic     string
	Partition int
	Offset    int64

	Offsets Offsets
	Kafka   ingest.Options // how the record is read; what concerns groups and writing is not used
	Sources []Source       // the pipelines that read the topic
	Client  *hbase.Client  // nil where no source has rows or looks keys up
	Engine  indexer.Engine // nil where no source has documents
}

// Offsets asks brokers; *offsets.Client is one.
type Offsets interface {
	Starts(ctx context.Context, topic string) ([]int64, error)
	Ends(ctx context.Context, topic string) ([]int64, error)
	StableEnds(ctx context.Context, topic string) ([]int64, error)
	Committed(ctx context.Context, group, topic string, partitions []int) (map[int]int64, error)
}

// Source is a pipeline that reads the topic.
type Source struct {
	Pipeline  string
	Schema    event.Schema
	Rows      *sink.Options    // nil: it writes none
	Documents *indexer.Options // nil: it writes none
	Halves    []Group          // of what it writes, rows before documents
	Letters   ingest.Options   // whose DeadLetterTopicOptions say where its dead letters are
	// Through returns the Writer that stands before the one that writes, and completes events for it; nil: none does.
	Through func(event.Writer) (event.Writer, error)
	// Where says where a setting stands, such as a condition; nil, or a zero Place: not known.
	Where func(setting string) Place
	// Configured says by what the halves were configured as the record came; empty: as they are now.
	Configured Configured
	// When is the setting that says which events are kept; empty: none does.
	When string
}

// Group is a half of a pipeline and the consumer group that commits for it.
type Group struct {
	Half string // Rows or Documents
	Name string // of the group
}

// Configured is which configuration a record is explained by.
type Configured string

// The configurations, besides that of now.
const (
	Earlier Configured = "earlier" // the one that was in force when the record came
	Unknown Configured = "unknown" // that of now, since nobody knows any more which one was
)

// The halves of a pipeline.
const (
	Rows      = "rows"
	Documents = "documents"
)

// Explain answers. ErrNoPartition or ErrOutside is in the chain of an error about the place.
func Explain(ctx context.Context, o Options) (*Report, error) {
	x := &explainer{opts: &o, offsets: o.Offsets, regions: map[string][]hbase.Region{}}
	rec, err := x.read(ctx)
	if err != nil {
		return nil, err
	}
	report := x.describe(rec)
	for i := range o.Sources {
		p, err := x.pipeline(ctx, &o.Sources[i], rec)
		if err != nil {
			return nil, fmt.Errorf("pipeline %s: %w", o.Sources[i].Pipeline, err)
		}
		report.Pipelines = append(report.Pipelines, *p)
	}
	return report, nil
}

// explainer answers about one record.
type explainer struct {
	opts    *Options
	offsets Offsets
	regions map[string][]hbase.Region // by table
}

// pipeline is what a source makes of the record; nil: there is none at the offset.
func (x *explainer) pipeline(ctx context.Context, s *Source, rec *event.Record) (*Pipeline, error) {
	p := &Pipeline{Pipeline: s.Pipeline, Configured: s.Configured, Events: []Event{}, Letters: []Letter{}}
	if rec != nil {
		if err := x.events(ctx, s, rec, p); err != nil {
			return nil, err
		}
		if err := x.letters(ctx, s, p); err != nil {
			return nil, err
		}
	}
	for _, g := range s.Halves {
		h := Half{Half: g.Half, Group: g.Name}
		committed, err := x.offsets.Committed(ctx, g.Name, x.opts.Topic, []int{x.opts.Partition})
		if err != nil {
			return nil, err
		}
		if next, ok := committed[x.opts.Partition]; ok {
			h.Committed, h.Settled = &next, next > x.opts.Offset
		}
		if rec != nil {
			h.Outcome, h.Why = p.outcome(&h)
		}
		p.Halves = append(p.Halves, h)
	}
	return p, nil
}
