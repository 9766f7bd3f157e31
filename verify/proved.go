package verify

import "time"

// mostLooks is the most looks that a proof remembers during a lag. With one look per minute they cover four hours; for longer lags the same
// number of looks is spaced farther apart.
const mostLooks = 256

// proof determines the time before which everything received by the topics is verified. It uses the times at which the ends of the topics
// were looked up, not the times of records, which their producers set and which need not increase.
type proof struct {
	known   []known       // at ends that are not proved yet, the oldest first
	apart   time.Duration // the minimum between two of known; the newest may be closer
	through time.Time
	broken  bool // something wrong was left: no later round proves what is before it
}

// known is where the partitions of the sources ended at a time, or later.
type known struct {
	at   time.Time
	ends []map[int]int64
}

// looked records where the partitions end.
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

// verified records that everything before the offsets is verified, with nothing wrong left.
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
