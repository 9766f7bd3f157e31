package verify

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"brine/event"
)

// ErrIncomplete is wrapped by errors about records that have left the topic.
var ErrIncomplete = errors.New("part of the range is not in the topic")

// Report is the result of a Run.
type Report struct {
	Sources  []SourceReport
	Tables   []TableReport
	Findings []Finding // at most Options.MaxFindings, by table and key
	Took     time.Duration

	Rejected     int64 // records that cannot be written, and are dead letters
	DeadLettered int64 // what would be missing or stale without the dead letters
	Lost         int64 // records that cannot be written, and are not dead letters
}

// SourceReport is what was read of a source.
type SourceReport struct {
	Name    string
	Topic   string
	Offsets int64 // in the range: an upper bound of the records
	Records int64
	Ahead   int64 // offsets from the watermark on: what they make may be there or not
	Unknown int64 // offsets written by a configuration that is no longer known: whatever they made is accepted

	LeftOut  map[event.LeftOut]int64 // events that make nothing, by reason
	Filtered map[string]int64        // events that make nothing in a table or index because its condition fails
}

// TableReport is what was seen in a table or an index.
type TableReport struct {
	Name      string
	Documents bool
	Rows      int64 // expected
	Cells     int64
	Compared  int64
	Repeats   int64 // records beyond the first of a row, in a table whose rows are events
	Expired   int64
	Newer     int64
	Unjudged  int64    // cells that no known record accounts for, but that a record of an unknown configuration, or one of Others, may
	Others    []string // see Table.Others
	Ties      int64    // rows that depend on the order in which changes of one version were applied
	Tie       *Tie     // the first of them, by key; nil: there is none
	Found     map[Kind]int64

	// Digest is the sum of the hashes of all cells that were read, whatever their order; Expected is that of the expected cells. In full mode
	// they are equal unless something was found, has expired, or was newer.
	Digest, Expected uint64
}

// Problems returns the number of findings, including those that are not in Findings.
func (r *Report) Problems() (n int64) {
	for i := range r.Tables {
		for _, found := range r.Tables[i].Found {
			n += found
		}
	}
	return n + r.Lost
}

// unproved returns the number of problems and of offsets for which it is not known whether they are problems.
func (r *Report) unproved() int64 {
	n := r.Problems()
	for i := range r.Sources {
		n += r.Sources[i].Unknown
	}
	return n
}

// Others returns the number of cells that no record accounts for, in tables and indexes to which others wrote.
func (r *Report) Others() (n int64) {
	for i := range r.Tables {
		if len(r.Tables[i].Others) > 0 {
			n += r.Tables[i].Unjudged
		}
	}
	return n
}

// Count returns the number of findings of a kind, including those that are not in Findings.
func (r *Report) Count(kind Kind) (n int64) {
	if kind == Lost {
		return r.Lost
	}
	for i := range r.Tables {
		n += r.Tables[i].Found[kind]
	}
	return n
}

// Fixable returns the number of findings that by fixes, including those that are not in Findings.
func (r *Report) Fixable(by Fix) (n int64) {
	for _, kind := range Kinds {
		if kind.Fix() == by {
			n += r.Count(kind)
		}
	}
	return n
}

// record names a record for people.
func (c *Check) record(o origin) Record {
	return Record{c.opts.Sources[o.source].Name, c.plans[o.source].Topic, o.partition, o.offset}
}

func (c *Check) report() *Report {
	r := &Report{Took: c.opts.Now().Sub(c.began), Rejected: c.letters.rejected, DeadLettered: c.letters.excused, Lost: c.letters.lost}
	for i := range c.opts.Sources {
		s := SourceReport{Name: c.opts.Sources[i].Name, Topic: c.plans[i].Topic, Records: c.records[i].Load(),
			Unknown: c.unknown[i].Load(), LeftOut: c.silent[i].leftOut, Filtered: c.silent[i].filtered}
		for _, p := range c.plans[i].Partitions {
			s.Offsets += p.Left()
			if settled := c.opts.Sources[i].Settled; settled != nil {
				s.Ahead += max(0, p.To-max(p.From, settled[p.Partition]))
			}
		}
		r.Sources = append(r.Sources, s)
	}
	for i, t := range c.tallies {
		of := TableReport{Name: c.opts.Tables[i].Name, Documents: c.opts.Tables[i].Documents, Rows: t.Rows, Cells: t.Cells, Compared: t.Compared,
			Repeats: t.Repeats, Expired: t.Expired, Newer: t.Newer, Unjudged: t.Unjudged, Ties: t.Ties, Tie: c.shown(t.tie),
			Digest: t.Digest, Expected: t.Expected, Others: c.opts.Tables[i].Others,
			Found: map[Kind]int64{}}
		for at, n := range c.uncounted {
			if at.table == i {
				of.Found[at.kind] += n
			}
		}
		r.Tables = append(r.Tables, of)
	}
	for i := range c.suspects {
		f := &c.suspects[i]
		if f.Records = nil; f.Kind != Lost {
			r.Tables[c.opts.table(f.Table, f.Document)].Found[f.Kind]++
		}
		for _, o := range f.from {
			f.Records = append(f.Records, c.record(o))
		}
	}
	for i := range r.Tables {
		for kind, n := range r.Tables[i].Found {
			c.opts.Hooks.Found(FoundInfo{r.Tables[i].Name, kind, int(n)})
		}
	}
	r.Findings = slices.Clone(c.suspects)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), bytes.Compare(a.Key, b.Key), cmp.Compare(a.Column, b.Column))
	})
	return r
}
