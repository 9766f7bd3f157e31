package deadletter

import (
	"context"
	"fmt"
	"iter"
	"time"

	"brine/event"
	"brine/ingest/internal/broker"
)

// Log is a topic of dead letters as it was when opened. Letters reads each partition twice, to know the last dead letter of each identity
// and whether it is marked. The identities of one partition are held in memory, about 100 bytes each.
type Log struct {
	Topic   string
	Scanned Counts // by Letters, so far

	cluster *broker.Cluster
	writer  *Topic
	ends    []ends // by partition
	meter   *Meter // nil: none
}

type ends struct{ from, to int64 }

// Counts are numbers of records in a topic of dead letters.
type Counts struct {
	Records int64 // dead letters and marks, including Repeats
	Repeats int64
	Foreign int64 // records that are neither
}

// Open finds the topic. If it does not exist, ErrNoTopic is in the chain of the error.
func Open(ctx context.Context, o Options) (*Log, error) {
	l := &Log{Topic: o.Topic, cluster: o.cluster(o.Topic)}
	if err := l.cluster.Patiently(ctx, func() error { return l.open(ctx) }); err != nil {
		l.Close()
		return nil, fmt.Errorf("dead letters: %w", err)
	}
	return l, nil
}

func (l *Log) open(ctx context.Context) error {
	topic, err := l.cluster.Topic(ctx, l.Topic)
	if err != nil {
		return err
	}
	l.writer = &Topic{l.cluster, l.Topic, topic.Partitions, time.Time{}}
	l.ends = make([]ends, topic.Partitions)
	for p := range l.ends {
		if l.ends[p].from, l.ends[p].to, err = l.cluster.Ends(ctx, l.Topic, p); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all requests.
func (l *Log) Close() { l.cluster.Close() }

// identity is what two repeats of a dead letter have in common.
type identity struct {
	group, topic string
	partition    int
	offset       int64
}

func (l *Letter) identity(names map[string]string) identity {
	return identity{one(names, l.Group), one(names, l.Record.Topic), l.Record.Partition, l.Record.Offset}
}

// one interns a string, so that dead letters do not each keep their own copy.
func one(names map[string]string, s string) string {
	if known, ok := names[s]; ok {
		return known
	}
	names[s] = s
	return s
}

// state is the last records of an identity in a partition, as offsets; −1 for none.
type state struct {
	letter, mark int64
	replayed     time.Time
	let          string
}

// Letters returns each dead letter once, partition by partition in offset order, starting at an offset of a partition. Replayed is when a
// closed one was replayed.
func (l *Log) Letters(ctx context.Context, partition int, offset int64) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		for p := partition; p < len(l.ends); p++ {
			from := l.ends[p].from
			if p == partition {
				from = max(from, offset)
			}
			if !l.partition(ctx, p, from, yield) {
				return
			}
		}
	}
}

// partition yields the dead letters of one partition that count. It returns false if no more are wanted, or after an error.
func (l *Log) partition(ctx context.Context, p int, from int64, yield func(Kept, error) bool) bool {
	if from >= l.ends[p].to {
		return true
	}
	names := map[string]string{}
	states, err := l.states(ctx, p, from, names)
	if err != nil {
		yield(Kept{}, err)
		return false
	}
	foreign := l.Scanned.Foreign
	defer func() { l.Scanned.Foreign = foreign }() // the second reading does not count
	for letter, err := range l.read(ctx, p, from) {
		if err != nil {
			yield(Kept{}, err)
			return false
		}
		s := states[letter.identity(names)]
		if s.letter != letter.Place.Offset {
			continue
		}
		if s.mark > s.letter {
			letter.Replayed, letter.Let = s.replayed, s.let
		}
		if !yield(letter, nil) {
			return false
		}
	}
	return true
}

// states reads a partition, finds the last dead letter and the last mark of each identity, and counts.
func (l *Log) states(ctx context.Context, p int, from int64, names map[string]string) (map[identity]state, error) {
	states := map[identity]state{}
	for letter, err := range l.read(ctx, p, from) {
		if err != nil {
			return nil, err
		}
		id := letter.identity(names)
		s, known := states[id]
		switch {
		case !known:
			s = state{letter: -1, mark: -1}
		case letter.Replayed.IsZero() && s.letter >= 0:
			l.Scanned.Repeats++
		}
		if letter.Replayed.IsZero() {
			s.letter = letter.Place.Offset
		} else {
			s.mark, s.replayed, s.let = letter.Place.Offset, letter.Replayed, one(names, letter.Let)
		}
		states[id] = s
		l.Scanned.Records++
	}
	return states, nil
}

// read returns the dead letters and marks of a partition. It counts records that are neither.
func (l *Log) read(ctx context.Context, p int, from int64) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		at := from
		for rec, err := range l.cluster.Records(ctx, l.Topic, p, from, l.ends[p].to) {
			if err != nil {
				yield(Kept{}, fmt.Errorf("dead letters: %w", err))
				return
			}
			l.meter.pass(rec.Offset + 1 - at)
			at = rec.Offset + 1
			letter, err := Read(rec)
			if err != nil {
				l.Scanned.Foreign++
				continue
			}
			if !yield(Kept{letter, Place{l.Topic, p, rec.Offset}}, nil) {
				return
			}
		}
		l.meter.pass(l.ends[p].to - at) // offsets of transactions, or compacted away
	}
}

// offsets returns how many offsets Letters reads, from a place on: each partition twice.
func (l *Log) offsets(partition int, offset int64) (n int64) {
	for p := partition; p < len(l.ends); p++ {
		from := l.ends[p].from
		if p == partition {
			from = max(from, offset)
		}
		n += 2 * max(0, l.ends[p].to-from)
	}
	return n
}

// mark closes dead letters. Once it returns nil, that is durable.
func (l *Log) mark(ctx context.Context, letters []*Kept, let string) error {
	byPartition := map[int][]*Letter{}
	for _, letter := range letters {
		byPartition[letter.Place.Partition] = append(byPartition[letter.Place.Partition], &letter.Letter)
	}
	return l.writer.write(ctx, byPartition, func(l *Letter) []event.Record { return []event.Record{l.mark(let)} })
}
