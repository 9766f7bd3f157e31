package ingest

import (
	"bytes"

	"brine/event"
)

// shrink lets a flight that is being retried keep only the records that are left of it, copied, so that the memory of its
// chunk returns to the budget when the chunk's other flights are settled or shrunk as well: a region that is sick holds on
// to its own events alone.
func (s *stream) shrink(f *flight) {
	c := s.copied(f, f.left)
	if c == nil {
		return
	}
	s.durable(f, f.left)
	f.chunk.release()
	f.chunk, f.records, f.times = c, c.records, TimesOf(c.records)
	for i := range c.records {
		f.left[i] = &c.records[i]
	}
}

// copied gives a chunk of copies of some of a flight's records; nil when little would be won, or when there is no room for it.
func (s *stream) copied(f *flight, records []*event.Record) *chunk {
	size := int64(0)
	for _, rec := range records {
		size += int64(rec.Size())
	}
	if size > f.chunk.cost/4 || !s.Budget.holds.tryAcquire(size) {
		return nil
	}
	c := newChunk(s.Topic, s.id)
	c.cost, c.charged, c.budget = size, size, s.Budget
	for _, rec := range records {
		c.records = append(c.records, clone(rec))
	}
	return c
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
