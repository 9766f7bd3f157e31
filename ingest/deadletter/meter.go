package deadletter

import (
	"context"
	"errors"
	"sync/atomic"
)

// Meter says how far a scan is, to whoever asks while it goes on: in offsets that are read, each twice.
type Meter struct{ done, total atomic.Int64 }

// Read returns what is done and what is left. Both are 0 before it is known how much there is.
func (m *Meter) Read() (done, left int64) {
	done = m.done.Load()
	return done, max(0, m.total.Load()-done)
}

func (m *Meter) pass(offsets int64) {
	if m != nil {
		m.done.Add(offsets)
	}
}

// measure sets how much the meter has to read behind a place, so that what is left is known from the start.
func (s *Scan) measure(ctx context.Context, after Place) error {
	if s.Meter == nil {
		return nil
	}
	var total int64
	for _, o := range s.Topics {
		from := Place{}
		if after.Topic != "" {
			if o.Topic != after.Topic {
				continue
			}
			from, after = Place{Partition: after.Partition, Offset: after.Offset + 1}, Place{}
		}
		log, err := Open(ctx, o)
		if errors.Is(err, ErrNoTopic) {
			continue
		}
		if err != nil {
			return err
		}
		total += log.offsets(from.Partition, from.Offset)
		log.Close()
	}
	s.Meter.done.Store(0)
	s.Meter.total.Store(total)
	return nil
}
