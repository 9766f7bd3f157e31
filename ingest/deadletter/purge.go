package deadletter

import (
	"context"
	"errors"
	"time"

	"brine/event"
	"brine/ingest/internal/broker"
)

// Purge is what would be deleted from a topic of dead letters.
type Purge struct {
	Topic      string           `json:"topic"`
	Letters    int              `json:"letters"` // to delete: open ones and replayed ones
	Open       int              `json:"open"`
	Fixed      int              `json:"fixed"`          // of the same age, and kept: see PlanPurge
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
//
// With shown, which an earlier plan was, no partition is cut behind where that plan cuts it: what has become older since then stays.
//
// A letter that was fixed when it was replayed stays for as long as its record is in its own topic, because only its mark says how, and so
// which rows it has become: without it they look as if no record accounted for them. Run writes it and its mark once more behind all
// others.
func (s *Scan) PlanPurge(ctx context.Context, olderThan time.Time, keepOpen bool, shown []Purge) ([]Purge, error) {
	var most map[Place]int64 // by topic and partition; nil: there is no limit
	if shown != nil {
		most = map[Place]int64{}
	}
	for _, p := range shown {
		for _, part := range p.Partitions {
			most[Place{Topic: p.Topic, Partition: part.Partition}] = part.Before
		}
	}
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
		of := newSources(&o.options)
		p, err := o.planPurge(ctx, olderThan, keepOpen, most, of)
		of.close()
		if err != nil {
			return nil, err
		}
		p.options = o.options
		out = append(out, *p)
	}
	return out, nil
}

func (l *Log) planPurge(ctx context.Context, olderThan time.Time, keepOpen bool, most map[Place]int64, of *sources) (*Purge, error) {
	p := &Purge{Topic: l.Topic, Partitions: []PurgePartition{}}
	for n, e := range l.ends {
		cut, err := l.cut(ctx, n, olderThan)
		if err != nil {
			return nil, err
		}
		if most != nil {
			cut = min(cut, most[Place{Topic: l.Topic, Partition: n}]) // 0: it was not shown
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
			var stays bool
			if stays, err = of.keep(ctx, &k.Letter); err != nil {
				return false
			}
			if stays {
				took.Fixed++
				return true
			}
			took.take(&k, open)
			part.Letters++
			return true
		}) && err != nil {
			return nil, err
		}
		if part.Before <= part.From || part.Letters == 0 && took.Fixed > p.Fixed {
			p.Fixed = took.Fixed
			continue // there is nothing, or only what stays
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
	log, err := Open(ctx, p.options)
	if errors.Is(err, ErrNoTopic) {
		return nil
	}
	if err != nil {
		return err
	}
	defer log.Close()
	of := newSources(&p.options)
	defer of.close()
	for _, part := range p.Partitions {
		if log.ends[part.Partition].from >= part.Before {
			continue
		}
		if err := log.carry(ctx, part, of); err != nil {
			return err
		}
		if _, err := log.cluster.Trim(ctx, p.Topic, part.Partition, part.Before); err != nil {
			return err
		}
	}
	return nil
}

// carry writes the letters that are to stay, of those that are to be deleted, once more at the end of their partition, each with its mark.
// A letter and its mark are in one request, so that no reader finds the letter open.
func (l *Log) carry(ctx context.Context, part PurgePartition, of *sources) (err error) {
	var letters []*Letter
	size := 0
	write := func() error {
		defer func() { letters, size = nil, 0 }()
		return l.writer.write(ctx, map[int][]*Letter{part.Partition: letters}, (*Letter).carried)
	}
	if l.partition(ctx, part.Partition, l.ends[part.Partition].from, func(k Kept, failed error) bool {
		if err = failed; err != nil || k.Place.Offset >= part.Before {
			return false
		}
		var stays bool
		if stays, err = of.keep(ctx, &k.Letter); err != nil || !stays {
			return err == nil
		}
		kept := k.Clone()
		if letters, size = append(letters, &kept.Letter), size+kept.Record.Size(); size > maxBatchSize {
			err = write()
		}
		return err == nil
	}); err != nil || len(letters) == 0 {
		return err
	}
	return write()
}

// carried returns the letter and its mark, as they are written once more.
func (l *Letter) carried() []event.Record {
	letter, mark := l.record(), l.mark(l.Let)
	letter.Timestamp = mark.Timestamp // it is as old as its mark to Kafka's retention and to the next purge
	return []event.Record{letter, mark}
}

// sources knows where the logs begin whose records are letters.
type sources struct {
	options  *Options
	clusters map[string]*broker.Cluster // by topic
	begin    map[Place]int64            // by topic and partition; −1: there is no such partition
}

func newSources(o *Options) *sources {
	return &sources{o, map[string]*broker.Cluster{}, map[Place]int64{}}
}

func (s *sources) close() {
	for _, c := range s.clusters {
		c.Close()
	}
}

// keep reports whether a purge keeps a letter: it was fixed, and its record is still in its topic.
func (s *sources) keep(ctx context.Context, l *Letter) (bool, error) {
	if l.Replayed.IsZero() || l.Let == "" {
		return false, nil
	}
	at := l.Origin()
	offset := at.Offset
	at.Offset = 0
	begin, known := s.begin[at]
	if !known {
		var err error
		if begin, err = s.ask(ctx, at); err != nil {
			return false, err
		}
		s.begin[at] = begin
	}
	return begin >= 0 && offset >= begin, nil
}

func (s *sources) ask(ctx context.Context, of Place) (begin int64, err error) {
	c := s.clusters[of.Topic]
	if c == nil {
		c = s.options.cluster(of.Topic)
		s.clusters[of.Topic] = c
	}
	topic, err := c.Topic(ctx, of.Topic)
	if errors.Is(err, ErrNoTopic) || err == nil && of.Partition >= topic.Partitions {
		return -1, nil
	}
	if err == nil {
		begin, err = c.Offset(ctx, of.Topic, of.Partition, broker.Oldest)
	}
	return begin, err
}
