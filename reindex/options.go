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

// From says what an index is built from.
type From string

// What an index is built from: rows are what has lasted, as long as their TTL; topics may have forgotten their first records.
const (
	FromHBase From = "hbase"
	FromTopic From = "topic"
)

// Options say which index to build, and from what.
type Options struct {
	Index   string
	From    From
	Engine  indexer.Engine // an indexer.Rebuilder too
	Client  *hbase.Client  // nil with FromTopic
	Sources []Source       // every pipeline that writes the index

	Rate        float64 // most documents, and then records, in a second, of each source; 0: no limit
	Workers     int     // ranges of a table that are read at the same time; default 4
	Again       bool    // begin again, whatever was begun
	SkipRefused bool    // take the place of the old index though documents were refused
	SkipMissing bool    // read the topics though retention has removed some of what is asked of them
	DropOld     bool    // at the end

	Lease  time.Duration // another process is taken for dead after this long without a sign of life; default 5 s
	Logger *slog.Logger  // default slog.Default()

	rest func(step string) error // tests stop here
}

// Source is a pipeline that writes documents into the index.
type Source struct {
	Pipeline  string
	Ingest    ingest.Options  // of the live group; Writer, DeadLetters and Hooks are not used
	Documents indexer.Options // of the index, and no other
	Rows      sink.Options    // what stands beside the documents
	Table     string          // of the rows that the documents stand beside

	// Through returns the Writer that stands before the one that writes, and completes events of the topic for it; nil: none does.
	Through func(event.Writer) (event.Writer, error)
	// RowsDone returns the offsets before which all rows are settled, by partition: those of the live group.
	RowsDone func(context.Context) (map[int]int64, error)
}

// Errors of New and Run; they are in the chain of what these return.
var (
	ErrTaken    = errors.New("another process builds this index")
	ErrBegun    = errors.New("another reindex of this index was begun")
	ErrRefused  = errors.New("the new index refuses documents")
	ErrMissing  = errors.New("part of the topic is missing")
	ErrNotOf    = errors.New("the rows do not hold what the documents are made of")
	ErrNoRoom   = errors.New("there is no room for another index")
	ErrInTheWay = errors.New("there is an index in the way")
)

// EnsureDefaults sets what is zero to its default. New calls it.
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
	bad(o.From != FromHBase && o.From != FromTopic, "Options.From is %q: give %s or %s", o.From, FromHBase, FromTopic)
	bad(o.From == FromHBase && o.Client == nil, "Options.Client is nil, so no rows can be read")
	bad(len(o.Sources) == 0, "no pipeline writes index %s", o.Index)
	bad(o.Rate < 0, "Options.Rate is %g: give 0 (no limit) or more", o.Rate)
	bad(o.Workers < 1, "Options.Workers is %d: give 1 or more", o.Workers)
	if _, ok := o.Engine.(indexer.Rebuilder); !ok {
		errs = append(errs, errors.New("reindex: this search engine cannot have an index take the place of another"))
	}
	for i := range o.Sources {
		d := o.Sources[i].Documents.Documents
		bad(len(d) != 1 || d[0].Index != o.Index, "%s: documents of index %s are wanted, and of no other", o.Sources[i].Pipeline, o.Index)
	}
	return errors.Join(errs...)
}

// writing are the options of a writer of the source's documents into the index by another name.
func (s *Source) writing(index string) indexer.Options {
	o := s.Documents.Endless()
	o.Documents[0].Index = index
	return o
}
