package deadletter

import (
	"context"
	"time"

	"brine/event"
)

// Purge is what would be deleted from a topic of dead letters.
type Purge struct {
	Topic      string           `json:"topic"`
	Letters    int              `json:"letters"` // to delete: open ones and replayed ones
	Open       int              `json:"open"`
	First      time.Time        `json:"first,omitzero"` // of the letters to delete
	Last       time.Time        `json:"last,omitzero"`
	Records    int64            `json:"records"` // to delete: letters, their repeats and marks
	Partitions []PurgePartition `json:"partitions"`

	options Options
}

// PurgePartition is what would be deleted from a partition: the records from From on and before Before.
type PurgePartition struct {
	Partition int   `json:"partition"`
	From      int64 `json:"from"`
	Before    int64 `json:"before"`
	Letters   int   `json:"letters"`
}

// PlanPurge finds, in each partition of the scan's topics, the records before the first one that is not older than a time. Only those can
// be deleted, because a log can only be cut off at its start. With keepOpen, the cut is also before the first open letter.
//
// No remaining letter changes its state. What closes a letter lies after it, so a deleted mark closes no letter that stays; and of a letter
// that was written several times, the last one counts.
func (s *Scan) PlanPurge(ctx context.Context, olderThan time.Time, keepOpen bool) ([]Purge, error) {
	if err := s.measure(ctx, Place{}); err != nil {
		return nil, err
	}
	var out []Purge
	for o, err := range s.opened(ctx, Place{}) {
		if err != nil {
			return nil, err
		}
		s.Read = append(s.Read, o.Topic)
		o.meter = s.Meter
		p, err := o.planPurge(ctx, olderThan, keepOpen)
		if err != nil {
			return nil, err
		}
		p.options = o.options
		out = append(out, *p)
	}
	return out, nil
}

func (l *Log) planPurge(ctx context.Context, olderThan time.Time, keepOpen bool) (*Purge, error) {
	p := &Purge{Topic: l.Topic, Partitions: []PurgePartition{}}
	for n, e := range l.ends {
		cut, err := l.cut(ctx, n, olderThan)
		if err != nil {
			return nil, err
		}
		part, took := PurgePartition{Partition: n, From: e.from, Before: cut}, *p
		if !l.partition(ctx, n, e.from, func(k Kept, failed error) bool {
			if failed != nil {
				err = failed
				return false
			}
			open := k.Replayed.IsZero()
			if k.Place.Offset >= part.Before {
				return false
			}
			if open && keepOpen {
				part.Before = k.Place.Offset
				return false
			}
			took.take(&k, open)
			part.Letters++
			return true
		}) && err != nil {
			return nil, err
		}
		if part.Before <= part.From {
			continue
		}
		took.Records += part.Before - part.From
		took.Partitions = append(p.Partitions, part)
		*p = took
	}
	return p, nil
}

func (p *Purge) take(k *Kept, open bool) {
	p.Letters++
	if open {
		p.Open++
	}
	if at := k.Time.UTC(); p.First.IsZero() || at.Before(p.First) {
		p.First = at
	}
	if at := k.Time.UTC(); at.After(p.Last) {
		p.Last = at
	}
}

// cut returns the offset of the first record of a partition that is not older than a time, or the partition's end if all are older. It does
// not rely on Kafka's timestamps alone: a letter whose own time is not older stays too.
func (l *Log) cut(ctx context.Context, partition int, olderThan time.Time) (int64, error) {
	e := l.ends[partition]
	for rec, err := range l.cluster.Records(ctx, l.Topic, partition, e.from, e.to) {
		if err != nil {
			return 0, err
		}
		if !older(rec, olderThan) {
			return rec.Offset, nil
		}
	}
	return e.to, nil
}

func older(rec *event.Record, than time.Time) bool {
	if l, err := Read(rec); err == nil && l.Replayed.IsZero() && !l.Time.Before(than) {
		return false
	}
	return rec.Timestamp < than.UnixMilli()
}

// Run deletes what the plan contains, partition by partition. It is not an error if records are already gone, and a second run deletes no
// more.
func (p *Purge) Run(ctx context.Context) error {
	c := p.options.cluster(p.Topic)
	defer c.Close()
	for _, part := range p.Partitions {
		low, _, err := c.Ends(ctx, p.Topic, part.Partition)
		if err == nil && low < part.Before {
			_, err = c.Trim(ctx, p.Topic, part.Partition, part.Before)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
