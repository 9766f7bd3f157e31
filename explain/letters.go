package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"brine/event"
	"brine/ingest"
	"brine/ingest/deadletter"
	"brine/ingest/offsets"
)

// maxLetters is the most records of a dead-letter partition to read for the dead letters of one record; each is read twice.
const maxLetters = 200_000

// letters looks for the record's dead letters.
func (x *explainer) letters(ctx context.Context, s *Source, p *Pipeline) error {
	in := s.Letters
	in.Topic = x.opts.Topic
	topic := in.DeadLetterTopicOptions()
	if err := x.lettersIn(ctx, topic, s, p); err != nil {
		return err
	}
	for _, topic.Topic = range s.Before {
		if err := x.lettersIn(ctx, topic, s, p); err != nil {
			return err
		}
	}
	slices.SortStableFunc(p.Letters, func(a, b Letter) int { return -cmp.Compare(a.Half, b.Half) }) // rows before documents
	return nil
}

// lettersIn looks for the record's dead letters in a topic. They are in one partition, determined by the record's.
func (x *explainer) lettersIn(ctx context.Context, topic deadletter.Options, s *Source, p *Pipeline) error {
	ends, err := x.offsets.Ends(ctx, topic.Topic)
	if errors.Is(err, ingest.ErrNoTopic) || offsets.NoTopic(err) {
		return nil // nothing has been rejected yet
	}
	if err != nil {
		return err
	}
	starts, err := x.offsets.Starts(ctx, topic.Topic)
	if err != nil {
		return err
	}
	at := x.opts.Partition % len(ends)
	if n := ends[at] - starts[at]; n > maxLetters {
		p.Unread = fmt.Sprintf("partition %d of %s has %d records, too many to search for one; brine deadletters show %d:%d reads them all",
			at, topic.Topic, n, x.opts.Partition, x.opts.Offset)
		return nil
	}
	log, err := deadletter.Open(ctx, topic)
	if err != nil {
		return err
	}
	defer log.Close()
	for kept, err := range log.Letters(ctx, at, 0) {
		if err != nil {
			return err
		}
		if kept.Place.Partition != at {
			break
		}
		i := slices.IndexFunc(s.Halves, func(g Group) bool { return g.Name == kept.Group })
		if rec := kept.Record; i < 0 || rec.Topic != x.opts.Topic || rec.Partition != x.opts.Partition || rec.Offset != x.opts.Offset {
			continue
		}
		l := Letter{Half: s.Halves[i].Half, Reason: kept.Reason, Field: kept.Field, Detail: kept.Detail, Written: kept.Time.UnixMilli(),
			Place: kept.Place.String()}
		if !kept.Replayed.IsZero() {
			ms := kept.Replayed.UnixMilli()
			l.Replayed, l.Let = &ms, kept.Let
		}
		p.Letters = append(p.Letters, l)
	}
	return nil
}

// fixes adds what the record has become where a replay has fixed it and the pipeline itself still rejects it.
func (x *explainer) fixes(ctx context.Context, s *Source, rec *event.Record, p *Pipeline) error {
	for i := range p.Letters {
		l := &p.Letters[i]
		if s.Fixed == nil || l.Replayed == nil || l.Let == "" || p.rejects(l.Half) == nil {
			continue
		}
		l.Fixed = &Fixed{Events: []Event{}}
		by, err := s.Fixed(l.Half, l.Let)
		if err != nil {
			l.Fixed.Problem = "the current configuration cannot repeat the fix: " + err.Error()
			continue
		}
		made := Pipeline{Events: []Event{}}
		if err := x.events(ctx, by, rec, &made); err != nil {
			return err
		}
		l.Fixed.Rejected, l.Fixed.Awaits, l.Fixed.Events = made.Rejected, made.Awaits, made.Events
	}
	return nil
}
