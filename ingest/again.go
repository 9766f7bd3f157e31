package ingest

import "brine/event"

// eventsOf returns those of records that were decoded to an event, in their order.
func (s *stream) eventsOf(records []event.Record) []*event.Record {
	all := make([]*event.Record, len(records))
	for i := range records {
		all[i] = &records[i]
	}
	batch := s.decodeAgain(all)
	events := all[:len(batch.Events)]
	for i := range events {
		events[i] = batch.Events[i].Record
	}
	return events
}

// decodeAgain returns the events of records that were decoded before, in a batch of their own.
func (s *stream) decodeAgain(records []*event.Record) *event.Batch {
	batch := &event.Batch{}
	decoder := event.NewDecoder(s.Schema) // the stream's own is in use by submit
	for _, rec := range records {
		if s.takes(rec) {
			_ = decoder.Decode(rec, batch) // what cannot be decoded is a dead letter already
		}
	}
	return batch
}

// keep filters a list in place down to what failed.
func keep[T any](list []T, failed []event.Failure) []T {
	for i, failure := range failed {
		list[i] = list[failure.Index] // i ≤ Index, since they ascend
	}
	return list[:len(failed)]
}

// resubmit submits what is left of a flight.
func (s *stream) resubmit(f *flight) event.Flight {
	batch := s.decodeAgain(f.left)
	if len(batch.Events) != len(f.left) {
		panic("BUG: a record that was decoded once is not decoded again")
	}
	return s.Writer.Submit(f.ctx, batch)
}
