package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/ingest/internal/broker"
	"brine/ingest/offsets"
	"brine/internal/when"
)

// Position is an offset in every partition of a topic: Earliest, Latest, At a time, or Offsets.
type Position struct {
	latest  bool
	at      time.Time
	offsets map[int]int64
}

// Earliest and Latest are the ends of the log at the time of asking.
var (
	Earliest = Position{}
	Latest   = Position{latest: true}
)

// At returns the position of the first record whose timestamp is t or later.
func At(t time.Time) Position { return Position{at: t} }

// Offsets returns a position with an offset for each of these partitions, and none for others.
func Offsets(byPartition map[int]int64) Position { return Position{offsets: maps.Clone(byPartition)} }

// String returns the position in words that stay the same as time goes on.
func (p Position) String() string {
	switch {
	case p.offsets != nil:
		var s []string
		for _, partition := range slices.Sorted(maps.Keys(p.offsets)) {
			s = append(s, fmt.Sprintf("%d:%d", partition, p.offsets[partition]))
		}
		return strings.Join(s, ",")
	case p.latest:
		return "latest"
	case !p.at.IsZero():
		return p.at.UTC().Format(time.RFC3339Nano)
	}
	return "earliest"
}

// ParsePosition parses earliest, latest, a time, how long ago that is, or offsets such as 0:1200,1:900.
func ParsePosition(text string, now time.Time) (Position, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "earliest":
		return Earliest, nil
	case "latest":
		return Latest, nil
	}
	if t, err := when.Time(text, now); err == nil {
		if t.UnixMilli() < 0 {
			return Position{}, errors.New("before 1970")
		}
		return At(t.Truncate(time.Millisecond)), nil // Kafka's own resolution
	}
	parsed, err := offsets.Parse(text)
	if err != nil {
		return Position{}, fmt.Errorf("%w; write earliest, latest, a time such as 2013-01-31T08:00:00Z, how long ago, such as 2h, or offsets "+
			"such as 0:1200,1:900", err)
	}
	return Offsets(parsed), nil
}

// Span is a part of a topic as the user asks for it: from a position to another, without the latter. A Range is the offsets that result.
type Span struct {
	From, To   Position
	Partitions []int // ascending; nil: all
}

// NewSpan returns a span of these partitions; if none are named, of those in the offsets of from, or else of to.
func NewSpan(from, to Position, partitions []int) Span {
	s := Span{from, to, slices.Clone(partitions)}
	for _, p := range []Position{from, to} {
		if s.Partitions == nil {
			s.Partitions = slices.Collect(maps.Keys(p.offsets))
		}
	}
	slices.Sort(s.Partitions)
	s.Partitions = slices.Compact(s.Partitions)
	return s
}

// in asks the brokers for the position in one partition.
func (p Position) in(ctx context.Context, c *broker.Cluster, topic string, partition int) (int64, error) {
	switch {
	case p.offsets != nil:
		offset, ok := p.offsets[partition]
		if !ok {
			return 0, fmt.Errorf("partition %d: no offset given", partition)
		}
		return offset, nil
	case p.latest:
		return c.Offset(ctx, topic, partition, broker.Newest)
	case !p.at.IsZero():
		return c.Offset(ctx, topic, partition, p.at.UnixMilli())
	}
	return c.Offset(ctx, topic, partition, broker.Oldest)
}

// Ordered returns an error if a span is known to be empty without asking the brokers.
func (s Span) Ordered() error {
	from, to := s.From, s.To
	if !from.at.IsZero() && !to.at.IsZero() && !from.at.Before(to.at) {
		return fmt.Errorf("the range is from %v to %v; its end must be later than its start", from, to)
	}
	for _, p := range slices.Sorted(maps.Keys(from.offsets)) {
		end, ok := to.offsets[p]
		if to.offsets != nil && !ok {
			return fmt.Errorf("partition %d has a start offset but no end offset; give both", p)
		}
		if ok && end <= from.offsets[p] {
			return fmt.Errorf("partition %d: the range is from %d to %d; its end must be higher than its start", p, from.offsets[p], end)
		}
	}
	return nil
}
