package ingest

import (
	"errors"
	"slices"

	"brine/event"
	"brine/ingest/internal/broker"
)

// A flight that waits for a failing region is parked: it gives up its place in the window and takes only room, which the budget bounds. Its
// records that are not durable are copied, so that its chunk's memory returns to the budget.

// parkedCost is roughly what a parked flight takes besides its records: a goroutine, and what the writer keeps for it.
const parkedCost = 4 << 10

// park frees the flight's place in the window by adding an empty flight. If the budget has no room for that, the flight keeps its place.
func (s *stream) park(f *flight) {
	if f.parked || !s.Budget.holds.TryAcquire(parkedCost) {
		return
	}
	f.parked, f.charge = true, parkedCost
	s.free <- &flight{}
}

var errFailing = errors.New("part of the store is failing and holds up its events")

// await waits until the flight is settled and returns what has failed, by the indexes of the events of its records. With mayPark, it parks
// the flight as soon as everything that is not durable waits for a failing part of the store.
func (s *stream) await(f *flight, mayPark bool) ([]event.Failure, error) {
	if !mayPark || f.plural || f.left != nil { // of what is left, the flight holds only its copies
		return event.Settle(s.drain, f.out)
	}
	outcome, err := f.out.Wait(s.drain, event.Stalled)
	if err != nil || len(outcome.Pending) == 0 {
		return outcome.Failures, err
	}
	left := outcome.Left()
	s.impede(f, event.Unavailable, errFailing)
	s.park(f)
	narrowed := s.narrow(f, s.recordsOfSome(f, left))
	failures, err := event.Settle(s.drain, f.out)
	if narrowed {
		failures = slices.Clone(failures)
		for i := range failures {
			failures[i].Index, _ = slices.BinarySearch(left, failures[i].Index)
		}
	}
	return failures, err
}

// recordsOfSome returns the records of some of a flight's events. No record has several events, so the events are the records in order,
// without those that were not asked for and those that could not be decoded.
func (s *stream) recordsOfSome(f *flight, events []int) []*event.Record {
	records := make([]*event.Record, 0, len(events))
	letters := f.letters
	n := 0 // events so far
	for i := range f.records {
		rec := &f.records[i]
		if !s.takes(rec) {
			continue
		}
		if len(letters) > 0 && letters[0].Record == rec {
			letters = letters[1:]
			continue
		}
		if len(records) < len(events) && events[len(records)] == n {
			records = append(records, rec)
		}
		n++
	}
	return records
}

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
		c.Records = append(c.Records, rec.Clone())
	}
	s.durable(f, records)
	f.chunk.Release()
	f.chunk, f.records, f.times = c, c.Records, TimesOf(c.Records)
	return true
}
