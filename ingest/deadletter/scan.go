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
		for _, o := range s.Topics {
			from := Place{}
			if after.Topic != "" {
				if o.Topic != after.Topic {
					continue
				}
				from, after = Place{Partition: after.Partition, Offset: after.Offset + 1}, Place{}
			}
			if !s.topic(ctx, o, from, func(_ *Log, kept *Kept, err error) bool { return kept == nil && err == nil || yield(kept, err) }) {
				return
			}
		}
	}
}

// topic yields the dead letters of one topic, with the log that they are in, and nil at its end. It reports false when no more are wanted,
// or after an error.
func (s *Scan) topic(ctx context.Context, o Options, from Place, yield func(*Log, *Kept, error) bool) bool {
	log, err := Open(ctx, o)
	if errors.Is(err, ErrNoTopic) {
		return true // nothing has been rejected yet
	}
	if err != nil {
		yield(nil, nil, err)
		return false
	}
	defer log.Close()
	log.meter = s.Meter
	defer func() { s.Scanned.add(log.Scanned) }()
	s.Read = append(s.Read, o.Topic)
	for kept, err := range log.Letters(ctx, from.Partition, from.Offset) {
		if err != nil {
			yield(nil, nil, err)
			return false
		}
		if s.Filter.Takes(&kept.Letter) && !yield(log, &kept, nil) {
			return false
		}
	}
	return yield(log, nil, nil)
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
	for _, o := range s.Topics {
		var failed error
		s.topic(ctx, o, Place{}, func(log *Log, kept *Kept, err error) bool {
			switch {
			case err != nil:
				failed = err
			case kept == nil: // the topic's end
				failed = r.flush(ctx, log)
			default:
				failed = r.add(ctx, log, kept)
			}
			return failed == nil
		})
		if failed != nil {
			return failed
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
