package ingest

import (
	"errors"
	"slices"

	"brine/event"
)

// A flight that waits for a failing region is parked: it gives up its place in the window and takes only room, which the budget bounds. Its
// records that are not durable are copied, so that its chunk's memory returns to the budget.

// parkedCost is roughly what a parked flight takes besides its records: a goroutine, and what the writer keeps for it.
const parkedCost = 4 << 10

// park frees the flight's place in the window, unless the budget is spent; then the workers wait.
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
