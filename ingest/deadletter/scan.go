package deadletter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"brine/event"
)

// Filter selects dead letters. The zero Filter takes those that are open.
type Filter struct {
	Groups     func(group string) bool // nil: all
	Reasons    []event.Reason          // nil: all
	Partitions []int                   // of the records' own topic; nil: all
	Offset     *int64                  // of the record in its own topic; nil: all
	Since      time.Time               // written at this time or later; zero: all
	Until      time.Time               // written before this time; zero: all
	Key        []byte                  // of the record; nil: all
	Text       string                  // somewhere in the record, or in the dead letter's field or detail
	Replayed   bool                    // also those that have been replayed
}

// Takes reports whether the filter takes a dead letter.
func (f *Filter) Takes(l *Letter) bool {
	switch {
	case !f.Replayed && !l.Replayed.IsZero(),
		f.Groups != nil && !f.Groups(l.Group),
		len(f.Reasons) > 0 && !slices.Contains(f.Reasons, l.Reason),
		len(f.Partitions) > 0 && !slices.Contains(f.Partitions, l.Record.Partition),
		f.Offset != nil && *f.Offset != l.Record.Offset,
		!f.Since.IsZero() && l.Time.Before(f.Since),
		!f.Until.IsZero() && !l.Time.Before(f.Until),
		f.Key != nil && !bytes.Equal(l.Record.Key, f.Key):
		return false
	}
	return f.Text == "" || l.holds(f.Text)
}

// holds reports whether a text is in the dead letter.
func (l *Letter) holds(text string) bool {
	if strings.Contains(l.Field, text) || strings.Contains(l.Detail, text) {
		return true
	}
	in := func(b []byte) bool { return bytes.Contains(b, []byte(text)) }
	return in(l.Record.Key) || in(l.Record.Value) ||
		slices.ContainsFunc(l.Record.Headers, func(h event.Header) bool { return strings.Contains(h.Key, text) || in(h.Value) })
}

// Scan reads the dead letters of several topics that a filter takes.
type Scan struct {
	Topics []Options
	Filter Filter
	Meter  *Meter // nil: nobody asks how far it is

	Scanned Counts   // so far
	Read    []string // the topics that are there
}

// Letters returns them topic by topic and partition by partition, behind a place (zero: from the first on). Each is valid until the next.
func (s *Scan) Letters(ctx context.Context, after Place) iter.Seq2[*Kept, error] {
	return func(yield func(*Kept, error) bool) {
		if err := s.measure(ctx, after); err != nil {
			yield(nil, err)
			return
		}
		for o, err := range s.opened(ctx, after) {
			if err != nil {
				yield(nil, err)
				return
			}
			for kept, err := range s.letters(ctx, o) {
				if !yield(kept, err) {
					return
				}
			}
		}
	}
}

// opened is a topic of a scan that is there.
type opened struct {
	*Log
	options Options
	from    Place // the first to be read
}

// opened opens the scan's topics behind a place, each until the next.
func (s *Scan) opened(ctx context.Context, after Place) iter.Seq2[opened, error] {
	return func(yield func(opened, error) bool) {
		skip := after
		for _, options := range s.Topics {
			from := Place{}
			if skip.Topic != "" {
				if options.Topic != skip.Topic {
					continue
				}
				from, skip = Place{Partition: skip.Partition, Offset: skip.Offset + 1}, Place{}
			}
			log, err := Open(ctx, options)
			if errors.Is(err, ErrNoTopic) {
				continue // nothing has been rejected yet
			}
			if err != nil {
				yield(opened{}, err)
				return
			}
			more := yield(opened{log, options, from}, nil)
			log.Close()
			if !more {
				return
			}
		}
	}
}

// letters returns the dead letters of one topic. The first error is the last. A topic that is deleted while it is read ends there, as one
// that was deleted before would not have been read at all.
func (s *Scan) letters(ctx context.Context, o opened) iter.Seq2[*Kept, error] {
	return func(yield func(*Kept, error) bool) {
		o.meter = s.Meter
		defer func() { s.Scanned.add(o.Scanned) }()
		s.Read = append(s.Read, o.Topic)
		for kept, err := range o.Letters(ctx, o.from.Partition, o.from.Offset) {
			if err != nil {
				if !gone(ctx, o.options) {
					yield(nil, err)
				}
				return
			}
			if s.Filter.Takes(&kept.Letter) && !yield(&kept, nil) {
				return
			}
		}
	}
}

// gone reports whether the brokers have no such topic any more.
func gone(ctx context.Context, o Options) bool {
	log, err := Open(ctx, o)
	if err == nil {
		log.Close()
	}
	return errors.Is(err, ErrNoTopic)
}

func (c *Counts) add(more Counts) {
	c.Records += more.Records
	c.Repeats += more.Repeats
	c.Foreign += more.Foreign
}

const (
	replayBatch      = 500 // dead letters that are written at once
	replayBatchBytes = 4 << 20
)

// Replay writes the scan's dead letters of these groups again, at most that many a second (0: no limit), and returns the outcome of each
// target. It ends with the first error; what is durable by then is marked, and in the outcomes.
func (s *Scan) Replay(ctx context.Context, perSecond int, targets []Target) ([]Outcome, error) {
	r := replayer{batches: make([]batch, len(targets))}
	for i := range targets {
		r.batches[i].to, r.batches[i].outcome.Rejected = &targets[i], map[event.Reason]int{}
	}
	err := s.replay(ctx, perSecond, &r)
	outcomes := make([]Outcome, len(targets))
	for i := range r.batches {
		outcomes[i] = r.batches[i].outcome
	}
	return outcomes, err
}

func (s *Scan) replay(ctx context.Context, perSecond int, r *replayer) error {
	if err := s.measure(ctx, Place{}); err != nil {
		return err
	}
	if perSecond > 0 {
		r.limit = rate.NewLimiter(rate.Limit(perSecond), replayBatch)
	}
	for o, err := range s.opened(ctx, Place{}) {
		if err != nil {
			return err
		}
		for kept, err := range s.letters(ctx, o) {
			if err == nil {
				err = r.add(ctx, o.Log, kept)
			}
			if err != nil {
				return err
			}
		}
		if err := r.flush(ctx, o.Log); err != nil {
			return err
		}
	}
	return nil
}

// replayer gathers dead letters by group, to write many at once.
type replayer struct {
	batches []batch
	limit   *rate.Limiter // nil: none
}

type batch struct {
	to      *Target
	letters []Kept
	bytes   int
	outcome Outcome // of those before
}

func (r *replayer) add(ctx context.Context, log *Log, kept *Kept) error {
	i := slices.IndexFunc(r.batches, func(b batch) bool { return b.to.Group == kept.Group })
	if i < 0 {
		return nil // not one of those asked for, or rejected since they were counted
	}
	b := &r.batches[i]
	b.letters, b.bytes = append(b.letters, kept.Clone()), b.bytes+kept.Record.Size()
	if len(b.letters) < replayBatch && b.bytes < replayBatchBytes {
		return nil
	}
	return r.write(ctx, log, b)
}

// flush writes what has been gathered.
func (r *replayer) flush(ctx context.Context, log *Log) error {
	for i := range r.batches {
		if err := r.write(ctx, log, &r.batches[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *replayer) write(ctx context.Context, log *Log, b *batch) error {
	if len(b.letters) == 0 {
		return nil
	}
	if r.limit != nil {
		if err := r.limit.WaitN(ctx, len(b.letters)); err != nil {
			return err
		}
	}
	outcome, err := log.Replay(ctx, b.to, b.letters)
	b.outcome.add(outcome)
	b.letters, b.bytes = b.letters[:0], 0
	if err != nil {
		return fmt.Errorf("%s: %w", b.to.Name, err)
	}
	return nil
}
