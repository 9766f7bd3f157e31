package verify

import "time"

// mostLooks bounds what a proof remembers of a lag: with a look a minute each of four hours, and of longer lags as many looks, farther
// apart.
const mostLooks = 256

// proof finds the time before which everything that had come into the topics is verified. It goes by when the ends of the topics were
// looked at and not by the times of records, which are their producers' and need not rise.
type proof struct {
	known   []known       // at ends that are not proved yet, the oldest first
	apart   time.Duration // at least, of two that are known; the newest may be nearer
	through time.Time
	broken  bool // something wrong was left: no later round proves what is before it
}

// known is where the partitions of the sources ended, or later, at a time.
type known struct {
	at   time.Time
	ends []map[int]int64
}

// looked notes where the partitions end.
func (p *proof) looked(at time.Time, ends []map[int]int64) {
	n := len(p.known)
	switch {
	case n >= 2 && at.Sub(p.known[n-2].at) < p.apart:
		p.known = p.known[:n-1]
	case n == mostLooks:
		p.apart = at.Sub(p.known[0].at) / (mostLooks / 2)
		for i := range mostLooks / 2 {
			p.known[i] = p.known[2*i+1]
		}
		p.known = p.known[:mostLooks/2]
	}
	p.known = append(p.known, known{at, ends})
}

// verified notes that everything before the offsets is verified, with nothing wrong left.
func (p *proof) verified(next []map[int]int64) {
	if p.broken {
		return
	}
	n := 0
	for n < len(p.known) && reached(next, p.known[n].ends) {
		p.through = p.known[n].at
		n++
	}
	if p.known = append(p.known[:0], p.known[n:]...); len(p.known) == 0 {
		p.apart = 0
	}
}

// reached reports whether all partitions of all sources are at their ends, or beyond.
func reached(next, ends []map[int]int64) bool {
	for i := range ends {
		for partition, end := range ends[i] {
			if next[i][partition] < end {
				return false
			}
		}
	}
	return true
}
