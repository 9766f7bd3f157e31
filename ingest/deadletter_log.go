package ingest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"
)

// DeadLetterLog is a topic of dead letters as it was when it was opened.
//
// Letters of one identity (the place of the record, and the group whose writer did not take it) lie in one partition, in which the last
// one counts: the others are repeats. A mark behind it says that the record has been written since. For this each partition is read twice,
// and the identities of one partition are in memory, about 100 bytes each.
type DeadLetterLog struct {
	Topic string

	cluster *cluster
	letters *deadLetterTopic
	ranges  []Range // by partition

	scanned, repeats, foreign int64
}

// KeptLetter is a letter in its topic. It and its record are valid until the next.
type KeptLetter struct {
	DeadLetter     // of an open one Replayed is zero
	Partition  int // of the topic of dead letters, as Offset
	Offset     int64
}

// OpenDeadLetters finds the topic of dead letters of these options. ErrNoTopic is in the chain of its error when there is none, as where
// there has never been a dead letter.
func OpenDeadLetters(ctx context.Context, o Options) (*DeadLetterLog, error) {
	o.EnsureDefaults()
	l := &DeadLetterLog{Topic: o.DeadLetterTopic, cluster: newCluster(o.Kafka, o.RequestTimeout, o.DeadLetterTopic)}
	err := l.cluster.patiently(ctx, func() error { return l.open(ctx) })
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("dead letters: %w", err)
	}
	return l, nil
}

func (l *DeadLetterLog) open(ctx context.Context) error {
	partitions, err := l.cluster.partitions(ctx, l.Topic)
	if err != nil {
		return err
	}
	l.letters = &deadLetterTopic{cluster: l.cluster, topic: l.Topic, count: len(partitions)}
	l.ranges = make([]Range, len(partitions))
	for p := range l.ranges {
		if l.ranges[p].From, err = l.cluster.offset(ctx, l.Topic, p, oldest); err != nil {
			return err
		}
		if l.ranges[p].To, err = l.cluster.offset(ctx, l.Topic, p, newest); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all requests.
func (l *DeadLetterLog) Close() { l.cluster.close() }

// Scanned is what Letters has read so far: records of the topic, letters and marks, among them repeats; and records that are neither.
func (l *DeadLetterLog) Scanned() (records, repeats, foreign int64) {
	return l.scanned, l.repeats, l.foreign
}

// identity is what makes two letters the same.
type identity struct {
	group, topic string
	partition    int
	offset       int64
}

func (l *DeadLetter) identity(names map[string]string) identity {
	name := func(s string) string { // one string for all letters: a key of the map would keep its own
		if known, ok := names[s]; ok {
			return known
		}
		names[s] = s
		return s
	}
	return identity{name(l.Group), name(l.Record.Topic), l.Record.Partition, l.Record.Offset}
}

// state is the last of an identity in a partition: offsets, −1 for none.
type state struct {
	letter, mark int64
	replayed     time.Time
}

// Letters returns each letter once, partition by partition in the order of their offsets, of those partitions (nil: all) and, in the first
// of them, from an offset on. Replayed of one that is closed says when.
func (l *DeadLetterLog) Letters(ctx context.Context, partition int, offset int64) iter.Seq2[KeptLetter, error] {
	return func(yield func(KeptLetter, error) bool) {
		for p := partition; p < len(l.ranges); p++ {
			from := l.ranges[p].From
			if p == partition {
				from = max(from, offset)
			}
			if !l.partition(ctx, p, from, yield) {
				return
			}
		}
	}
}

func (l *DeadLetterLog) partition(ctx context.Context, p int, from int64, yield func(KeptLetter, error) bool) bool {
	if from >= l.ranges[p].To {
		return true
	}
	names, states := map[string]string{}, map[identity]state{}
	for letter, err := range l.read(ctx, p, from) {
		if err != nil {
			yield(KeptLetter{}, err)
			return false
		}
		id := letter.identity(names)
		s, known := states[id]
		switch {
		case !known:
			s = state{letter: -1, mark: -1}
		case letter.Replayed.IsZero() && s.letter >= 0:
			l.repeats++
		}
		if letter.Replayed.IsZero() {
			s.letter = letter.Offset
		} else {
			s.mark, s.replayed = letter.Offset, letter.Replayed
		}
		states[id] = s
		l.scanned++
	}
	foreign := l.foreign
	defer func() { l.foreign = foreign }() // the second reading counts nothing
	for letter, err := range l.read(ctx, p, from) {
		if err != nil {
			yield(KeptLetter{}, err)
			return false
		}
		s := states[letter.identity(names)]
		if s.letter != letter.Offset {
			continue
		}
		if s.mark > s.letter {
			letter.Replayed = s.replayed
		}
		if !yield(letter, nil) {
			return false
		}
	}
	return true
}

// read returns the letters and marks of a partition. What is neither is counted.
func (l *DeadLetterLog) read(ctx context.Context, p int, from int64) iter.Seq2[KeptLetter, error] {
	return func(yield func(KeptLetter, error) bool) {
		for rec, err := range l.cluster.logRange(ctx, l.Topic, p, from, l.ranges[p].To) {
			if err != nil {
				yield(KeptLetter{}, fmt.Errorf("dead letters: %w", err))
				return
			}
			letter, err := ReadDeadLetter(rec)
			if err != nil {
				l.foreign++
				continue
			}
			if !yield(KeptLetter{letter, p, rec.Offset}, nil) {
				return
			}
		}
	}
}

// Clone is a copy that stays valid.
func (l *KeptLetter) Clone() KeptLetter {
	c, rec := *l, *l.Record
	rec.Key, rec.Value, rec.Headers = slices.Clone(rec.Key), slices.Clone(rec.Value), slices.Clone(rec.Headers)
	for i := range rec.Headers {
		rec.Headers[i].Value = slices.Clone(rec.Headers[i].Value)
	}
	c.Record = &rec
	return c
}

// mark closes letters. Once it returns nil that is durable.
func (l *DeadLetterLog) mark(ctx context.Context, letters []*KeptLetter) error {
	byPartition := map[int][]*DeadLetter{}
	for _, letter := range letters {
		byPartition[letter.Partition] = append(byPartition[letter.Partition], &letter.DeadLetter)
	}
	return l.letters.write(ctx, byPartition, (*DeadLetter).mark)
}
