package ingest

import (
	"bytes"

	"brine/event"
)

// shrink lets a flight that is being retried keep only the records that are left of it, copied, so that the memory of its
// chunk returns to the budget when the chunk's other flights are settled or shrunk as well: a region that is sick holds on
// to its own events alone. It does nothing, and says so, when little would be won, or when there is no room for the copy.
func (s *stream) shrink(f *flight) bool {
	left := int64(0)
	for i := range f.left.Events {
		left += int64(f.left.Events[i].Record.Size())
	}
	if left > f.chunk.cost/4 || !s.Budget.holds.tryAcquire(left) {
		return false
	}
	c := newChunk(s.Topic, s.id)
	c.cost, c.charged, c.budget = left, left, s.Budget
	for _, e := range f.left.Events {
		c.records = append(c.records, clone(e.Record))
	}
	batch := s.decodeAgain(c.records)
	if len(batch.Events) != len(c.records) {
		panic("BUG: a record that was decoded once is not decoded again")
	}
	f.chunk.release()
	f.chunk, f.left = c, batch
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
