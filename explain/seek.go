package explain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"brine/event"
	"brine/hbase"
	"brine/ingest"
	"brine/rowkey"
)

// SoughtCell is a cell, or a row without a column, whose record is sought.
type SoughtCell struct {
	Table   string
	Row     []byte
	Column  string // family:qualifier; empty: any column of the row
	Version int64
}

// SeekOptions describe what to look for, and where.
type SeekOptions struct {
	Cell    SoughtCell
	At      time.Time // the time of the version; zero: the version is not a time, and the record may be anywhere in the topics
	Kafka   ingest.Options
	Offsets SeekOffsets
	Sources []SeekSource // pipelines that write the table, one entry per topic that they read
	Client  *hbase.Client
	Most    int64                   // the most records to read
	Read    func(done, total int64) // called every few thousand records, and at the end of each range; nil: not
}

// SeekSource is a pipeline that reads a topic.
type SeekSource struct {
	Source
	Topic string
}

// SeekOffsets asks brokers; *offsets.Client implements it.
type SeekOffsets interface {
	Starts(ctx context.Context, topic string) ([]int64, error)
	StableEnds(ctx context.Context, topic string) ([]int64, error)
	At(ctx context.Context, topic string, at time.Time) ([]int64, error)
}

// The outcomes of a search.
const (
	SoughtFound     = "found"
	SoughtAmbiguous = "ambiguous" // several records write the cell with this version
	SoughtExpired   = "expired"   // no remaining record writes it, but some that may have are gone
	SoughtMissing   = "missing"   // no record writes it, and none that may have is gone
	SoughtUnread    = "unread"    // no record that was read writes it, but not all that may were read
)

// Sought is what a search has found, and where it has looked.
type Sought struct {
	Outcome string        `json:"outcome"`
	Records []FoundRecord `json:"records"`
	Ranges  []ReadRange   `json:"ranges"`
}

// FoundRecord is a record that writes the cell.
type FoundRecord struct {
	Pipeline  string   `json:"pipeline"`
	Topic     string   `json:"topic"`
	Partition int      `json:"partition"`
	Offset    int64    `json:"offset"`
	Timestamp int64    `json:"timestamp"` // ms since 1970
	Key       string   `json:"key,omitempty"`
	Columns   []string `json:"columns"` // the columns of the row that it writes with the version
}

// ReadRange is what was read of a partition.
type ReadRange struct {
	Pipeline  string `json:"pipeline"`
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	From      int64  `json:"from"` // offset
	To        int64  `json:"to"`   // exclusive
	Gone      bool   `json:"gone"` // earlier records that may have written it are gone
}

// Where the record of an event with a known time may be: most arrive soon; none is earlier than this (its version would be refused as one
// of the future), and some are much later.
const (
	earliest = 24 * time.Hour
	before   = time.Minute
	soon     = time.Hour
)

// Seek looks for the records that a cell comes from: first where most are, then wherever one may be. It stops after the group of ranges in
// which it has found one, or once it has read Most records.
func Seek(ctx context.Context, o SeekOptions) (*Sought, error) {
	k := &seeker{opts: &o, out: &Sought{Records: []FoundRecord{}, Ranges: []ReadRange{}}, left: o.Most}
	var spans [][]span // in the order in which they are read
	for i := range o.Sources {
		some, err := k.spans(ctx, &o.Sources[i])
		if err != nil {
			return nil, err
		}
		for turn, list := range some {
			if turn == len(spans) {
				spans = append(spans, nil)
			}
			spans[turn] = append(spans[turn], list...)
		}
	}
	for _, turn := range spans {
		for _, s := range turn {
			k.total += s.to - s.from
		}
	}
	k.total = min(k.total, o.Most)
	whole := true
	for _, turn := range spans {
		for _, s := range turn {
			read, err := k.read(ctx, s)
			if err != nil {
				return nil, err
			}
			whole = whole && read
		}
		if len(k.out.Records) > 0 {
			break
		}
	}
	k.out.Outcome = k.outcome(whole)
	return k.out, nil
}

type seeker struct {
	opts        *SeekOptions
	out         *Sought
	left, total int64 // records that may still be read, and the number read
	gone        bool
}

// span is a range of offsets of a partition.
type span struct {
	source    *SeekSource
	partition int
	from, to  int64
	gone      bool
}

// spans returns the spans of a source: near the time, after it, and before it.
func (k *seeker) spans(ctx context.Context, s *SeekSource) ([][]span, error) {
	starts, err := k.opts.Offsets.Starts(ctx, s.Topic)
	if err != nil {
		return nil, err
	}
	ends, err := k.opts.Offsets.StableEnds(ctx, s.Topic)
	if err != nil {
		return nil, err
	}
	if k.opts.At.IsZero() {
		var all []span
		for p := range starts {
			k.gone = k.gone || starts[p] > 0
			all = append(all, span{s, p, starts[p], ends[p], starts[p] > 0})
		}
		return [][]span{all}, nil
	}
	var at [3][]int64
	for i, t := range []time.Time{k.opts.At.Add(-earliest), k.opts.At.Add(-before), k.opts.At.Add(soon)} {
		if t.UnixMilli() < 0 {
			t = time.UnixMilli(0) // brokers take what is before it for something else than a time
		}
		if at[i], err = k.opts.Offsets.At(ctx, s.Topic, t); err != nil {
			return nil, err
		}
	}
	out := make([][]span, 3)
	for p := range min(len(starts), len(ends), len(at[0]), len(at[1]), len(at[2])) {
		within := func(n int64) int64 {
			if n < 0 { // no record is that new
				return ends[p]
			}
			return min(max(n, starts[p]), ends[p])
		}
		first, near, late := within(at[0][p]), within(at[1][p]), within(at[2][p])
		near = max(near, first)
		late = max(late, near)
		gone := starts[p] > 0 && first == starts[p]
		k.gone = k.gone || gone
		out[0] = append(out[0], span{s, p, near, late, gone && near == first})
		out[1] = append(out[1], span{s, p, late, ends[p], gone && late == first})
		out[2] = append(out[2], span{s, p, first, near, gone})
	}
	return out, nil
}

// read looks at the records of a span, and reports whether it has looked at all of them.
func (k *seeker) read(ctx context.Context, s span) (whole bool, err error) {
	if s.from >= s.to {
		return true, nil
	}
	to := min(s.to, s.from+k.left)
	if to == s.from {
		return false, nil
	}
	only := k.opts.Kafka
	only.Topic = s.source.Topic
	reader := ingest.NewTopicReader(only)
	defer reader.Close()
	source := s.source.Source
	source.Documents = nil
	w := &writes{explainer: &explainer{opts: &Options{Client: k.opts.Client}}, source: &source}
	if err := w.open(); err != nil {
		return false, err
	}
	d := event.NewDecoder(source.Schema)
	const often = 4096
	for rec, err := range reader.Records(ctx, s.partition, s.from, to) {
		if err != nil {
			return false, err
		}
		if err := k.look(ctx, s.source, w, d, rec); err != nil {
			return false, err
		}
		if rec.Offset%often == 0 && k.opts.Read != nil {
			k.opts.Read(k.opts.Most-k.left+rec.Offset-s.from, k.total)
		}
	}
	k.left -= to - s.from
	if k.opts.Read != nil {
		k.opts.Read(k.opts.Most-k.left, k.total)
	}
	k.out.Ranges = append(k.out.Ranges, ReadRange{s.source.Pipeline, s.source.Topic, s.partition, s.from, to, s.gone})
	return to == s.to, nil
}

// look records the record if it writes the cell.
func (k *seeker) look(ctx context.Context, s *SeekSource, w *writes, d *event.Decoder, rec *event.Record) error {
	err := d.ResolveSoon(ctx, rec)
	if _, ok := errors.AsType[*event.Unresolved](err); ok {
		return nil // its schema is not known: it was not written
	}
	if err != nil {
		return err
	}
	var batch event.Batch
	if d.Decode(rec, &batch) != nil {
		return nil //nolint:nilerr // the record is a dead letter and wrote nothing
	}
	for i := range batch.Events {
		ev := &batch.Events[i]
		if ev.LeftOut != "" || ev.Version != k.opts.Cell.Version {
			continue
		}
		columns, err := w.columns(ctx, ev, &k.opts.Cell)
		if err != nil {
			return err
		}
		if len(columns) > 0 {
			found := FoundRecord{Pipeline: s.Pipeline, Topic: s.Topic, Partition: rec.Partition, Offset: rec.Offset, Timestamp: rec.Timestamp,
				Columns: columns}
			if found.Key = string(rec.Key); !utf8.ValidString(found.Key) {
				found.Key = rowkey.Binary(rec.Key)
			}
			k.out.Records = append(k.out.Records, found)
			return nil
		}
	}
	return nil
}

// columns returns the columns of the cell's row that the event writes with its version, or nil if the cell is not among them.
func (w *writes) columns(ctx context.Context, ev *event.Event, of *SoughtCell) (columns []string, err error) {
	if w.through != nil {
		w.completed = nil
		failures, err := event.Settle(ctx, w.through.Submit(ctx, &event.Batch{Events: []event.Event{*ev}}))
		if err != nil || len(failures) > 0 || len(w.completed) == 0 {
			return nil, err
		}
		ev = &w.completed[0]
	}
	w.made = mutations{}
	if _, err := event.Settle(ctx, w.rows.Submit(ctx, &event.Batch{Events: []event.Event{*ev}})); err != nil {
		return nil, err
	}
	for i := range w.made.list {
		m := &w.made.list[i]
		if m.table != of.Table || !bytes.Equal(m.row, of.Row) {
			continue
		}
		for c := range m.cells {
			if m.cells[c].Type == hbase.Put && m.cells[c].Timestamp == of.Version {
				columns = append(columns, columnOf(&m.cells[c]))
			}
		}
	}
	if of.Column != "" && !slices.Contains(columns, of.Column) {
		return nil, nil
	}
	return columns, nil
}

func (k *seeker) outcome(whole bool) string {
	switch {
	case len(k.out.Records) > 1:
		return SoughtAmbiguous
	case len(k.out.Records) == 1:
		return SoughtFound
	case !whole:
		return SoughtUnread
	case k.gone:
		return SoughtExpired
	}
	return SoughtMissing
}

// Says returns the outcome as a sentence.
func (s *Sought) Says() string {
	n := int64(0)
	for _, r := range s.Ranges {
		n += r.To - r.From
	}
	read := fmt.Sprintf("%d offsets of %d ranges were read", n, len(s.Ranges))
	switch s.Outcome {
	case SoughtFound:
		r := s.Records[0]
		return fmt.Sprintf("the record is %s %d:%d; %s", r.Topic, r.Partition, r.Offset, read)
	case SoughtAmbiguous:
		return fmt.Sprintf("%d records write the cell with this version; %s", len(s.Records), read)
	case SoughtExpired:
		return "no remaining record writes the cell with this version, but the topic no longer has some that may have; " + read
	case SoughtUnread:
		return "no record that was read writes the cell with this version, but not all were read; " + read
	}
	return "no record writes the cell with this version; " + read
}
