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
	f.places = placesOf(f, batch)
	return ok
}

// placesOf returns the place of each event among those of its record; nil if no record has several.
func placesOf(f *flight, batch *event.Batch) []int {
	if !f.plural {
		return nil
	}
	places := make([]int, len(batch.Events))
	for i := 1; i < len(places); i++ {
		if batch.Events[i].Record == batch.Events[i-1].Record {
			places[i] = places[i-1] + 1
		}
	}
	return places
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

// keepRest keeps what of the failed events is to be written. A failure without a Rest leaves it as it was.
func (f *flight) keepRest(failed []event.Failure) {
	rest := make([]event.Rest, len(failed))
	for i, failure := range failed {
		rest[i] = failure.Rest
		if failure.Rest == 0 && f.rest != nil {
			rest[i] = f.rest[failure.Index]
		}
	}
	f.rest = rest
}

// resubmit submits what is left of a flight: only the events that have failed, and of them only what has failed, because a later change of
// the same version may have followed anything else of their records. It returns false if the partition is taken away first.
func (s *stream) resubmit(f *flight) bool {
	records := f.left
	if f.plural {
		records = slices.Compact(slices.Clone(f.left))
	}
	batch, ok := s.decodeAgain(records)
	if !ok {
		return false
	}
	if f.plural {
		f.pick(batch)
	}
	if !slices.Equal(recordsOf(batch), f.left) {
		panic("BUG: a record that was decoded once is not decoded again")
	}
	for i := range f.rest {
		batch.Events[i].Rest = f.rest[i]
	}
	f.events = writing(batch.Events)
	f.out = s.Writer.Submit(f.ctx, batch)
	return true
}

// pick reduces the events of the records that are left to those that are left.
func (f *flight) pick(batch *event.Batch) {
	places := placesOf(f, batch)
	n := 0
	for i := range batch.Events {
		if n < len(f.left) && batch.Events[i].Record == f.left[n] && places[i] == f.places[n] {
			batch.Events[n] = batch.Events[i]
			n++
		}
	}
	batch.Events = batch.Events[:n]
}
