// Package explain answers what became of one record, and why: what pipelines make of it, whether that is in the tables and indexes, and
// whether it is settled, left out or a dead letter.
//
// The code that writes also makes what is expected: the decoder, the sink's own mutations and the indexer's own documents, recorded instead
// of sent. It writes nothing and joins no group.
//
// The path of an answer: record.go reads the record; decode.go makes its events; rows.go and documents.go compare what each would write
// with what is stored; letters.go looks for its dead letters, and for what fixes of them have made; outcome.go draws the conclusion for
// each half of a pipeline. report.go is the answer as JSON, print.go as text.
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

// Options identify the record, and the sources of the answer.
type Options struct {
	Topic     string
	Partition int
	Offset    int64

	Offsets Offsets
	Kafka   ingest.Options // how to read the record; options for groups and writing are not used
	Sources []Source       // the pipelines that read the topic
	Client  *hbase.Client  // nil if no source has rows or looks up keys
	Engine  indexer.Engine // nil if no source has documents
}

// Offsets asks brokers; *offsets.Client implements it.
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
	Halves    []Group          // the halves of the pipeline, rows before documents
	Letters   ingest.Options   // its DeadLetterTopicOptions locate the dead letters
	Before    []string         // topics that held the dead letters before
	// Through returns the Writer in front of the one that writes, which completes events for it; nil: there is none.
	Through func(event.Writer) (event.Writer, error)
	// Where returns the place of a setting, such as a condition; nil, or a zero Place: not known.
	Where func(setting string) Place
	// Configured is the configuration of the halves when the record arrived; empty: the current one.
	Configured Configured
	// When is the setting that selects the events to keep; empty: there is none.
	When string
	// Fixed returns the source of one half by which a replay reads a record that it fixes by let: that of the current configuration. nil:
	// no replay fixes.
	Fixed func(half, let string) (*Source, error)
}

// Group is a half of a pipeline and the consumer group that commits for it.
type Group struct {
	Half string // Rows or Documents
	Name string // of the group
}

// Configured is the configuration by which a record is explained.
type Configured string

// The configurations other than the current one.
const (
	Earlier Configured = "earlier" // the one in force when the record arrived
	Unknown Configured = "unknown" // the current one, because it is no longer known which one was in force
)

// The halves of a pipeline.
const (
	Rows      = "rows"
	Documents = "documents"
)

// Explain explains the record. An error about its position wraps ErrNoPartition or ErrOutside.
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

// explainer explains one record.
type explainer struct {
	opts    *Options
	offsets Offsets
	regions map[string][]hbase.Region // by table
}

// pipeline returns what a source makes of the record; rec is nil if there is none at the offset.
func (x *explainer) pipeline(ctx context.Context, s *Source, rec *event.Record) (*Pipeline, error) {
	p := &Pipeline{Pipeline: s.Pipeline, Configured: s.Configured, schema: s.Schema, Events: []Event{}, Letters: []Letter{}}
	if rec != nil {
		if err := x.events(ctx, s, rec, p); err != nil {
			return nil, err
		}
		if err := x.letters(ctx, s, p); err != nil {
			return nil, err
		}
		if err := x.fixes(ctx, s, rec, p); err != nil {
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
