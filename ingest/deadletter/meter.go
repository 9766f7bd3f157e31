package deadletter

import (
	"context"
	"sync/atomic"
)

// Meter is the progress of a scan, readable while it runs. It counts offsets read; each is read twice.
type Meter struct{ done, total atomic.Int64 }

// Read returns what is done and what is left. Both are 0 until the total is known.
func (m *Meter) Read() (done, left int64) {
	done = m.done.Load()
	return done, max(0, m.total.Load()-done)
}

func (m *Meter) pass(offsets int64) {
	if m != nil {
		m.done.Add(offsets)
	}
}

// measure sets how many offsets lie after a place, so that what is left is known from the start.
func (s *Scan) measure(ctx context.Context, after Place) error {
	if s.Meter == nil {
		return nil
	}
	var total int64
	for o, err := range s.opened(ctx, after) {
		if err != nil {
			return err
		}
		total += o.offsets(o.from.Partition, o.from.Offset)
	}
	s.Meter.done.Store(0)
	s.Meter.total.Store(total)
	return nil
}
