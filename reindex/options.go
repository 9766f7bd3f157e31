package reindex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
	"brine/sink"
)

// From is what an index is built from.
type From string

// The values of From. Rows are what has lasted, up to their TTL; topics may have lost their first records.
const (
	FromHBase From = "hbase"
	FromTopic From = "topic"
)

// Options select the index to build, and what to build it from.
type Options struct {
	Index   string
	From    From
	Engine  indexer.Engine // must also be an indexer.Rebuilder
	Client  *hbase.Client  // nil with FromTopic
	Sources []Source       // all pipelines that write the index

	Rate        float64 // the most documents, and then records, per second and source; 0: no limit
	Workers     int     // ranges of a table that are read at the same time; default 4
	Again       bool    // start over, even if a reindex was begun
	SkipRefused bool    // replace the old index even if documents were refused
	SkipMissing bool    // read the topics even if retention has removed some of the needed records
	DropOld     bool    // at the end

	Lease  time.Duration // after which a process without a sign of life is considered dead; default 5 s
	Logger *slog.Logger  // default slog.Default()

	rest func(step string) error // tests stop here
}

// Source is a pipeline that writes documents into the index.
type Source struct {
	Pipeline  string
	Ingest    ingest.Options  // of the live group; Writer, DeadLetters and Hooks are not used
	Documents indexer.Options // of this index only
	Rows      sink.Options    // the rows that the documents belong to
	Table     string          // of these rows

	// Through returns the Writer in front of the one that writes, which completes events of the topic for it; nil: there is none.
	Through func(event.Writer) (event.Writer, error)
	// RowsDone returns, by partition, the offsets before which the live group has settled all rows.
	RowsDone func(context.Context) (map[int]int64, error)
}

// Errors of New and Run, which wrap them.
var (
	ErrTaken    = errors.New("another process builds this index")
	ErrBegun    = errors.New("another reindex of this index was started")
	ErrRefused  = errors.New("the new index refuses documents")
	ErrMissing  = errors.New("part of the topic is missing")
	ErrNotOf    = errors.New("the rows do not hold all that the documents need")
	ErrNoRoom   = errors.New("there is no room for another index")
	ErrInTheWay = errors.New("there is an index in the way")
)

// EnsureDefaults sets zero fields to their defaults. New calls it.
func (o *Options) EnsureDefaults() {
	o.Workers = cmp.Or(o.Workers, 4)
	o.Lease = cmp.Or(o.Lease, 5*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.rest == nil {
		o.rest = func(string) error { return nil }
	}
}

// Validate reports every fault at once. It expects EnsureDefaults to have run.
func (o *Options) Validate() error {
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("reindex: "+format, args...))
		}
	}
	if err := indexer.ValidIndex(indexer.Beside(o.Index)); err != nil {
		errs = append(errs, fmt.Errorf("reindex: %w", err))
	}
	bad(o.From != FromHBase && o.From != FromTopic, "Options.From is %q: it must be %s or %s", o.From, FromHBase, FromTopic)
	bad(o.From == FromHBase && o.Client == nil, "Options.Client is nil, so no rows can be read")
	bad(len(o.Sources) == 0, "no pipeline writes index %s", o.Index)
	bad(o.Rate < 0, "Options.Rate is %g: it must be 0 (no limit) or more", o.Rate)
	bad(o.Workers < 1, "Options.Workers is %d: it must be at least 1", o.Workers)
	if _, ok := o.Engine.(indexer.Rebuilder); !ok {
		errs = append(errs, errors.New("reindex: this search engine cannot replace one index with another"))
	}
	for i := range o.Sources {
		d := o.Sources[i].Documents.Documents
		bad(len(d) != 1 || d[0].Index != o.Index, "%s: it must write documents of index %s and no other", o.Sources[i].Pipeline, o.Index)
	}
	return errors.Join(errs...)
}

// writing returns the options of a writer of the source's documents into the index named index.
func (s *Source) writing(index string) indexer.Options {
	o := s.Documents.Endless()
	o.Documents[0].Index = index
	return o
}
