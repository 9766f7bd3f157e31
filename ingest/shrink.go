package ingest

import (
	"bytes"

	"brine/event"
	"brine/ingest/internal/broker"
)

// shrink reduces a flight that is being retried to copies of the records that are left of it, so that its chunk's memory returns to the
// budget once the chunk's other flights are settled or shrunk as well: a failing region holds only its own events. A flight whose records
// have several events keeps them all.
func (s *stream) shrink(f *flight) {
	if f.plural || !s.narrow(f, f.left) {
		return
	}
	for i := range f.records {
		f.left[i] = &f.records[i]
	}
}

// narrow reduces a flight to copies of some of its records and reports the others as durable. If that gains little, or there is no room for
// the copies, it changes nothing and returns false.
func (s *stream) narrow(f *flight, records []*event.Record) bool {
	size := int64(0)
	for _, rec := range records {
		size += int64(rec.Size())
	}
	if size > f.chunk.Cost/4 || !s.Budget.holds.TryAcquire(size) {
		return false
	}
	c := broker.NewChunk(s.Topic, s.id)
	c.Charge(s.Budget.holds, size)
	c.Cost = size
	for _, rec := range records {
		c.Records = append(c.Records, clone(rec))
	}
	s.durable(f, records)
	f.chunk.Release()
	f.chunk, f.records, f.times = c, c.Records, TimesOf(c.Records)
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
