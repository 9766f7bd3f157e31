package ingest

import (
	"slices"

	"brine/event"
)

// list notes the record of each event of a flight. It returns false if the partition is taken away first.
func (s *stream) list(f *flight) bool {
	all := make([]*event.Record, len(f.records))
	for i := range f.records {
		all[i] = &f.records[i]
	}
	batch, ok := s.decodeAgain(all)
	f.left = recordsOf(batch)
	return ok
}

// recordsOf returns the record of each event.
func recordsOf(batch *event.Batch) []*event.Record {
	records := make([]*event.Record, len(batch.Events))
	for i := range batch.Events {
		records[i] = batch.Events[i].Record
	}
	return records
}

// decodeAgain returns the events of records that were decoded before, in a new batch. It returns false if the partition is taken away
// first.
func (s *stream) decodeAgain(records []*event.Record) (*event.Batch, bool) {
	batch := &event.Batch{}
	decoder := event.NewDecoder(s.readingOf(s.eras.Of(records[0])).Schema) // the stream's own is in use by submit
	for _, rec := range records {
		if !s.takes(rec) {
			continue
		}
		if err := s.resolve(s.drain, decoder, rec); err != nil {
			if h, ok := err.(*haltError); ok { //nolint:errorlint // our own, never wrapped
				s.halt(h)
			}
			return batch, false
		}
		_ = decoder.Decode(rec, batch) // a record that cannot be decoded already has its dead letter
	}
	return batch, true
}

// keep filters a list in place, down to the failed events.
func keep[T any](list []T, failed []event.Failure) []T {
	for i, failure := range failed {
		list[i] = list[failure.Index] // i ≤ Index because the indexes ascend
	}
	return list[:len(failed)]
}

// resubmit submits what is left of a flight. If any event of a record is left, it submits all of that record's events; writing some of them
// twice does no harm. It returns false if the partition is taken away first.
func (s *stream) resubmit(f *flight) bool {
	batch, ok := s.decodeAgain(f.left)
	if !ok {
		return false
	}
	left := recordsOf(batch)
	if !slices.Equal(slices.Compact(slices.Clone(left)), f.left) {
		panic("BUG: a record that was decoded once is not decoded again")
	}
	f.left, f.events = left, writing(batch.Events)
	f.out = s.Writer.Submit(f.ctx, batch)
	return true
}
