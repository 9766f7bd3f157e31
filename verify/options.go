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
	"brine/mask"
	"brine/sink"
)

// Options select what to verify.
type Options struct {
	Sources []Source
	Tables  []Table // all that the sources write

	// Full reads all of the tables, and so finds what no record accounts for. The sources must then be all that write the tables, from their
	// first record on.
	Full bool
	// Sample is the share of keys to verify, always the same ones; default 1.
	Sample float64

	Dir         string           // of the temporary file; default: the system's
	Memory      int64            // for sorting, default 32 MiB, and the same again for reading what is sorted
	MaxFindings int              // findings that are reported one by one and looked at twice; default 100,000. The others are counted
	Workers     int              // ranges that are read at the same time; default 4
	Now         func() time.Time // default time.Now
	Masks       *mask.Rules      // of what errors show; Report.Hide masks findings
	Hooks       Hooks
}

// Source is a part of a topic, and what its records become.
type Source struct {
	Name       string          // for people: pipeline.rows or pipeline.documents
	Ingest     ingest.Options  // Writer, DeadLetters and Hooks are not used
	From       ingest.Position // default ingest.Earliest
	To         ingest.Position // default ingest.Latest
	Partitions []int           // nil: all

	// Settled is, by partition, the offset before which the live group has settled everything. Records from there on may have been written or
	// not. Nil means that all have been.
	Settled map[int]int64

	Rows      *sink.Options    // what is written: rows,
	Documents *indexer.Options // or documents
	// Through returns the Writer in front of the one that writes, which completes events for it; nil: there is none.
	Through func(event.Writer) (event.Writer, error)

	// Eras says which readings of earlier configurations apply to which records, instead of Ingest.Schema, and Former, by reading, what became
	// of these records. Nil: there are none.
	Eras   *eras.Eras
	Former []Former

	// Patience is how long the reading, or a repair, may settle nothing while it waits for an answer; 0: forever.
	Patience time.Duration
	// Cause returns the store's error while the first try of a repair is pending, or "" if it is not known. nil: it is never known.
	Cause func() string

	// Letters returns the topic's dead letters; nil: there are none.
	Letters func(ctx context.Context) iter.Seq2[Letter, error]
	// Fixed returns the schema with which a replay has read a record that it fixed by Let; nil: no replay fixes.
	Fixed func(let string) (event.Schema, error)
}

// Former is what became of the records of an era.
type Former struct {
	Rows      *sink.Options
	Documents *indexer.Options
	Through   func(event.Writer) (event.Writer, error)
	// Unknown means that this is no longer known. Rows or Documents, without conditions, then only determine which keys the records may have
	// changed: whatever is there is accepted.
	Unknown bool
}

// at returns what becomes of the records of a reading.
func (s *Source) at(reading int) Former {
	if reading == eras.Present {
		return Former{Rows: s.Rows, Documents: s.Documents, Through: s.Through}
	}
	return s.Former[reading]
}

// Letter is the position of a dead letter that was not replayed, or was replayed with a fix, so that the pipeline still rejects its record.
type Letter struct {
	Partition int
	Offset    int64
	Reason    string

	Let    string        // the fix; empty: it was not replayed
	Record *event.Record // the fixed record, valid until the next letter; nil without a fix
}

// Table is a table or an index to verify.
type Table struct {
	Name      string
	Store     Store
	Documents bool
	Whole     bool                     // documents are replaced, not changed field by field
	Events    bool                     // each row is an event, so two on one key collide
	TTL       map[string]time.Duration // by family; for documents by ""
	Purge     time.Duration            // documents deleted so long ago, by their version, may be gone; 0: never
	// Others says, for people, from where else something was written that is not among the sources. What no record accounts for may be from
	// there: it is not judged.
	Others []string
}

// Hooks report the progress; any may be nil. They must be safe for concurrent use.
type Hooks struct {
	Read     func(ReadInfo)     // records were read from the topic
	Compared func(ComparedInfo) // keys were compared with the store
	Found    func(FoundInfo)    // at the end, for each table and kind
	Phase    func(PhaseInfo)    // a part of the work begins
}

// ReadInfo reports records that were read.
type ReadInfo struct {
	Source  string // its name
	Records int    // since the previous call
}

// ComparedInfo reports rows or documents that were compared.
type ComparedInfo struct {
	Table string
	Keys  int // since the previous call
}

// FoundInfo is the number of findings of one kind in a table.
type FoundInfo struct {
	Table string
	Kind  Kind
	Count int
}

// PhaseInfo is a part of the work.
type PhaseInfo struct {
	Name string                // for people
	Done func() (at, of int64) // its progress; it may be called until the next phase begins
}

// EnsureDefaults sets zero fields to their defaults. New calls it.
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
	bad(o.Sample < 0 || o.Sample > 1, "Options.Sample is %g: it must be above 0 and at most 1", o.Sample)
	bad(o.Memory < 64<<10, "Options.Memory is %d: it must be at least 64 KiB", o.Memory)
	bad(o.Workers < 1, "Options.Workers is %d: it must be at least 1", o.Workers)
	if o.Dir != "" {
		_, err := os.Stat(o.Dir)
		bad(err != nil, "the folder for the temporary file: %w", err)
	}
	for _, s := range o.Sources {
		bad((s.Rows == nil) == (s.Documents == nil), "%s: either rows or documents must be given", s.Name)
		bad(o.Full && s.From.String() != ingest.Earliest.String(),
			"%s: all of a table is verified against all of its topic; remove the start of the range", s.Name)
		bad(o.Full && s.Partitions != nil, "%s: all of a table is verified against all of its topic; remove the partitions", s.Name)
		for _, name := range s.tables() {
			bad(o.table(name, s.Documents != nil) < 0, "%s writes %s, which is not among the tables", s.Name, name)
		}
	}
	return errors.Join(errs...)
}

// tables returns the names of what the source writes.
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

// table returns a table's index, or −1 if there is none.
func (o *Options) table(name string, documents bool) int {
	return slices.IndexFunc(o.Tables, func(t Table) bool { return t.Name == name && t.Documents == documents })
}
