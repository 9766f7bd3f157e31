package ingest

import (
	"bytes"

	"brine/event"
)

// shrink lets a flight that is being retried keep only the records that are left of it, copied, so that the memory of its
// chunk returns to the budget when the chunk's other flights are settled or shrunk as well: a region that is sick holds on
// to its own events alone.
func (s *stream) shrink(f *flight) {
	if !s.narrow(f, f.left) {
		return
	}
	for i := range f.records {
		f.left[i] = &f.records[i]
	}
}

// narrow lets a flight keep only some of its records, copied, and tells of the others as durable. It reports false, and does nothing, when little would
// be won, or when there is no room for the copies.
func (s *stream) narrow(f *flight, records []*event.Record) bool {
	size := int64(0)
	for _, rec := range records {
		size += int64(rec.Size())
	}
	if size > f.chunk.cost/4 || !s.Budget.holds.tryAcquire(size) {
		return false
	}
	c := newChunk(s.Topic, s.id)
	c.cost, c.charged, c.budget = size, size, s.Budget
	for _, rec := range records {
		c.records = append(c.records, clone(rec))
	}
	s.durable(f, records)
	f.chunk.release()
	f.chunk, f.records, f.times = c, c.records, TimesOf(c.records)
	return true
}

func clone(rec *event.Record) event.Record {
	c := *rec
	c.Key, c.Value = bytes.Clone(rec.Key), bytes.Clone(rec.Value)
	c.Headers = nil
	for _, h := range rec.Headers {
		c.Headers = append(c.Headers, event.Header{Key: h.Key, Value: bytes.Clone(h.Value)})
	}
	return c
}
