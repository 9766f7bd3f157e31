package ingest

import (
	"errors"
	"slices"

	"brine/event"
)

// A flight of which something waits for a failing region takes no place in the window from the others, only room, which the
// budget bounds: it is parked. Its records that are not durable are copied, so that its chunk's memory returns to the budget.

// parkedCost is what a parked flight takes beside its records, about: a goroutine, and what the writer keeps for it.
const parkedCost = 4 << 10

// park gives the flight's place in the window away, unless the budget is spent: then the workers wait.
func (s *stream) park(f *flight) {
	if f.parked || !s.Budget.holds.tryAcquire(parkedCost) {
		return
	}
	f.parked, f.charge = true, parkedCost
	s.free <- &flight{}
}

var errSick = errors.New("a part of the store fails, and holds up the events that are for it")

// ease parks the flight as soon as all that is not durable of it waits for a part of the store that fails. It reports false
// when the partition goes away first.
func (s *stream) ease(f *flight) bool {
	e, ok := f.out.(event.Easer)
	if !ok || f.left != nil { // what is left has been asked for already
		return true
	}
	left, err := e.Ease(s.drain)
	if err != nil {
		return false
	}
	if len(left) == 0 {
		return true
	}
	s.impede(f, event.Unavailable, errSick)
	s.park(f)
	if s.narrow(f, s.recordsOf(f, left)) {
		f.at = left
	}
	return true
}

// recordsOf returns the records of some of a flight's events: events are the records in their order, without those that were not asked for and
// those that could not be decoded.
func (s *stream) recordsOf(f *flight, events []int) []*event.Record {
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

// locate turns the indexes of failures into those in what the flight has kept of its events.
func (f *flight) locate(failures []event.Failure) {
	if f.at == nil {
		return
	}
	for i := range failures {
		failures[i].Index, _ = slices.BinarySearch(f.at, failures[i].Index)
	}
	f.at = nil
}
