package hbase

import (
	"sync"
	"time"
)

// shortest is the shortest silence that counts as a stall. The load submits to every slot each tick, so acknowledgements arrive as often
// while nothing is wrong.
const shortest = 5 * tick

// stall is a time in which nothing was acknowledged in a slot.
type stall struct {
	Slot     int
	From, To time.Time
}

// stalls records when each slot's mutations were acknowledged. A slot is an equal share of the table's rows: one region when the table is
// new.
type stalls struct {
	mu   sync.Mutex
	last [slots + 1]time.Time // of each slot; the last entry is for any
	all  []stall
}

// anywhere is the stall of all slots together.
const anywhere = slots

func newStalls(now time.Time) *stalls {
	s := new(stalls)
	for i := range s.last {
		s.last[i] = now
	}
	return s
}

// acknowledged records an acknowledgement in a slot.
func (s *stalls) acknowledged(slot int, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range []int{slot, anywhere} {
		if now.Sub(s.last[i]) >= shortest {
			s.all = append(s.all, stall{i, s.last[i], now})
		}
		if now.After(s.last[i]) {
			s.last[i] = now
		}
	}
}

// since reports whether something was acknowledged in every slot after a time.
func (s *stalls) since(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, last := range s.last {
		if !last.After(t) {
			return false
		}
	}
	return true
}

// longest returns the longest stall, in any slot or in all together, that overlaps a span.
func (s *stalls) longest(from, to time.Time, together bool) (d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.all {
		if (x.Slot == anywhere) == together && x.To.After(from) && x.From.Before(to) {
			d = max(d, x.To.Sub(x.From))
		}
	}
	return d
}

// beyond returns how long a slot's stall continued after a time; 0 if it was not in one.
func (s *stalls) beyond(slot int, t time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.all {
		if x.Slot == slot && !x.From.After(t) && x.To.After(t) {
			return x.To.Sub(t)
		}
	}
	return 0
}
