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

// Filter selects dead letters. The zero Filter selects those that are open.
type Filter struct {
	Groups     func(group string) bool // nil: all
	Reasons    []event.Reason          // nil: all
	Partitions []int                   // of the records' own topic; nil: all
	Offset     *int64                  // of the record in its own topic; nil: all
	Since      time.Time               // written at this time or later; zero: all
	Until      time.Time               // written before this time; zero: all
	Key        []byte                  // of the record; nil: all
	Text       string                  // contained in the record, or in the dead letter's field or detail
	Replayed   bool                    // include those that have been replayed
}

// Takes reports whether the filter selects a dead letter.
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

// holds reports whether the dead letter contains a text.
func (l *Letter) holds(text string) bool {
	if strings.Contains(l.Field, text) || strings.Contains(l.Detail, text) {
		return true
	}
	in := func(b []byte) bool { return bytes.Contains(b, []byte(text)) }
	return in(l.Record.Key) || in(l.Record.Value) ||
		slices.ContainsFunc(l.Record.Headers, func(h event.Header) bool { return strings.Contains(h.Key, text) || in(h.Value) })
}

// Scan reads the dead letters of several topics that a filter selects.
type Scan struct {
	Topics []Options
	Filter Filter
	Meter  *Meter // nil: none

	Scanned Counts   // so far
	Read    []string // the topics that exist
}

// Letters returns them topic by topic and partition by partition, after a place (zero: from the start). Each is valid until the next.
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

// opened is an existing topic of a scan.
type opened struct {
	*Log
	options Options
	from    Place // the first to be read
}

// opened opens the scan's topics after a place. Each stays open until the next.
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

// letters returns the dead letters of one topic, up to the first error. If the topic is deleted meanwhile, its letters end there, just as a
// topic deleted earlier has none.
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

// gone reports whether the topic no longer exists.
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

// Replay writes the scan's dead letters of the targets' groups again, at most perSecond a second (0: no limit), and returns the outcome of
// each target. It ends at the first error; what is durable by then is marked and included in the outcomes.
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
	outcome Outcome // of earlier batches
}

func (r *replayer) add(ctx context.Context, log *Log, kept *Kept) error {
	i := slices.IndexFunc(r.batches, func(b batch) bool { return b.to.Group == kept.Group })
	if i < 0 {
		return nil // not asked for, or rejected after they were counted
	}
	b := &r.batches[i]
	b.letters, b.bytes = append(b.letters, kept.Clone()), b.bytes+kept.Record.Size()
	if len(b.letters) < replayBatch && b.bytes < replayBatchBytes {
		return nil
	}
	return r.write(ctx, log, b)
}

// flush writes what was gathered.
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
