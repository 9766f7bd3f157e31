package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/ingest"
	"brine/ingest/eras"
	"brine/sink"
)

// Options say what to verify.
type Options struct {
	Sources []Source
	Tables  []Table // every one that the sources write

	// Full reads all of the tables, and so finds what no record accounts for. The sources must be all that writes them, from their
	// first record on.
	Full bool
	// Sample is the share of keys that is verified, always the same ones; default 1.
	Sample float64

	Dir         string           // of the temporary file; default: the system's
	Memory      int64            // for sorting, default 32 MiB, and as much again for reading what is sorted
	MaxFindings int              // that are reported one by one, and looked at twice; default 100,000. The others are counted
	Workers     int              // ranges that are read at the same time; default 4
	Now         func() time.Time // default time.Now
	Hooks       Hooks
}

// Source is a part of a topic, and what its records become.
type Source struct {
	Name       string          // for people: pipeline.rows or pipeline.documents
	Ingest     ingest.Options  // Writer, DeadLetters and Hooks are not used
	From       ingest.Position // default ingest.Earliest
	To         ingest.Position // default ingest.Latest
	Partitions []int           // nil: all

	// Settled is, by partition, the offset before which all is settled: the live group's. Records from there on may have been written
	// or not. Nil: all are.
	Settled map[int]int64

	Rows      *sink.Options    // what is written: rows,
	Documents *indexer.Options // or documents
	// Through returns the Writer that stands before the one that writes, and completes events for it; nil: none does.
	Through func(event.Writer) (event.Writer, error)

	// Eras say by what records were read before, instead of by Ingest.Schema, and Former, by reading, what became of them. Nil: there are
	// none.
	Eras   *eras.Eras
	Former []Former

	// Patience is for how long the reading, or a repair, may go on with nothing settled while something waits for an answer; 0: forever.
	Patience time.Duration
	// Cause returns what the store fails with while a first try of a repair is pending; empty: not known. nil: never known.
	Cause func() string

	// Letters returns the topic's dead letters; nil: there are none.
	Letters func(ctx context.Context) iter.Seq2[Letter, error]
	// Fixed returns the schema by which a replay has read a record that it fixed on its way back by Let; nil: no replay fixes.
	Fixed func(let string) (event.Schema, error)
}

// Former is what became of the records of an era.
type Former struct {
	Rows      *sink.Options
	Documents *indexer.Options
	Through   func(event.Writer) (event.Writer, error)
	// Unknown: nobody knows any more. Rows or Documents, without conditions, only say which keys the records may have changed: whatever they
	// made of these is taken for right.
	Unknown bool
}

// at returns what becomes of the records of a reading.
func (s *Source) at(reading int) Former {
	if reading == eras.Present {
		return Former{Rows: s.Rows, Documents: s.Documents, Through: s.Through}
	}
	return s.Former[reading]
}

// Letter is a dead letter that is not replayed, or was replayed with a fix, so that the pipeline rejects its record still: where that was.
type Letter struct {
	Partition int
	Offset    int64
	Reason    string

	Let    string        // the fix; empty: it is not replayed
	Record *event.Record // that was fixed, valid until the next letter; nil without a fix
}

// Table is a table, or an index, that is verified.
type Table struct {
	Name      string
	Store     Store
	Documents bool
	Whole     bool                     // its documents are replaced, not changed field by field
	Events    bool                     // each row is an event, so two on one key collide
	TTL       map[string]time.Duration // by family; of documents by ""
	Purge     time.Duration            // documents that were deleted so long ago, by their version, may be gone; 0: never
}

// Hooks report how it goes; any may be nil. They must be safe for concurrent use.
type Hooks struct {
	Read     func(ReadInfo)     // records were read from the topic
	Compared func(ComparedInfo) // keys were compared with the store
	Found    func(FoundInfo)    // at the end, for each table and kind
	Phase    func(PhaseInfo)    // a part of the work begins
}

// ReadInfo is records that were read.
type ReadInfo struct {
	Source  string // its name
	Records int    // since the last time
}

// ComparedInfo is rows, or documents, that were compared.
type ComparedInfo struct {
	Table string
	Keys  int // since the last time
}

// FoundInfo is what was found in a table of one kind.
type FoundInfo struct {
	Table string
	Kind  Kind
	Count int
}

// PhaseInfo is a part of the work.
type PhaseInfo struct {
	Name string                // for people
	Done func() (at, of int64) // how far it is; it may be called until the next phase begins
}

// EnsureDefaults sets what is zero to its default. New calls it.
func (o *Options) EnsureDefaults() {
	o.Sample = cmp.Or(o.Sample, 1)
	o.Memory = cmp.Or(o.Memory, 32<<20)
	o.MaxFindings = cmp.Or(o.MaxFindings, 100_000)
	o.Workers = cmp.Or(o.Workers, 4)
	if o.Now == nil {
		o.Now = time.Now
	}
	orNothing(&o.Hooks.Read)
	orNothing(&o.Hooks.Compared)
	orNothing(&o.Hooks.Found)
	orNothing(&o.Hooks.Phase)
}

func orNothing[Info any](hook *func(Info)) {
	if *hook == nil {
		*hook = func(Info) {}
	}
}

// Validate reports every fault at once. It expects EnsureDefaults to have run.
func (o *Options) Validate() error {
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("verify: "+format, args...))
		}
	}
	bad(len(o.Sources) == 0, "Options.Sources is empty, so nothing would be expected")
	bad(o.Sample < 0 || o.Sample > 1, "Options.Sample is %g: give a share above 0 and up to 1", o.Sample)
	bad(o.Memory < 64<<10, "Options.Memory is %d: give 64 KiB or more", o.Memory)
	bad(o.Workers < 1, "Options.Workers is %d: give 1 or more", o.Workers)
	if o.Dir != "" {
		_, err := os.Stat(o.Dir)
		bad(err != nil, "the folder for the temporary file: %w", err)
	}
	for _, s := range o.Sources {
		bad((s.Rows == nil) == (s.Documents == nil), "%s: rows or documents must be given, and not both", s.Name)
		bad(o.Full && s.From.String() != ingest.Earliest.String(),
			"%s: all of a table is verified against all of its topic; leave the beginning of the range out", s.Name)
		bad(o.Full && s.Partitions != nil, "%s: all of a table is verified against all of its topic; leave the partitions out", s.Name)
		for _, name := range s.tables() {
			bad(o.table(name, s.Documents != nil) < 0, "%s writes %s, which is not among the tables", s.Name, name)
		}
	}
	return errors.Join(errs...)
}

// tables are the names of what the source writes.
func (s *Source) tables() (names []string) {
	if s.Rows != nil {
		for _, r := range s.Rows.Rows {
			names = append(names, r.Table.Name)
		}
	} else if s.Documents != nil {
		for _, d := range s.Documents.Documents {
			names = append(names, d.Index)
		}
	}
	return names
}

// table finds a table's place, −1 for none.
func (o *Options) table(name string, documents bool) int {
	return slices.IndexFunc(o.Tables, func(t Table) bool { return t.Name == name && t.Documents == documents })
}
