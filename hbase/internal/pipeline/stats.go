package pipeline

import (
	"cmp"
	"slices"
)

// Stats is what a client holds and has under way at one moment.
type Stats struct {
	Buffered int           // bytes of mutations without a result
	Blocked  int           // Submits that wait for room
	Lanes    int           // regions' lanes that have mutations, queued or in a call
	Resting  int           // of these, lanes that wait out a pause after a failure
	Fullest  int           // bytes of the lane that holds most; a lane takes a quarter of MaxBufferedBytes
	Servers  []ServerStats // by address; those that mutations have gone to
}

// ServerStats is what is under way to one region server.
type ServerStats struct {
	Addr  string
	Calls int // of mutations that are unanswered
	Lanes int // that could send and wait for a call's turn
}

// Stats reads all lanes, which takes some microseconds for a thousand: for a scrape or a live line, not for each batch.
func (w *Writer) Stats() Stats {
	s := Stats{Buffered: int(w.buffered.Load())}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Blocked = w.blocked
	for _, ls := range w.tables {
		for _, l := range ls.all {
			if l.bytes > 0 {
				s.Lanes++
			}
			if l.state == paused {
				s.Resting++
			}
			s.Fullest = max(s.Fullest, l.bytes)
		}
	}
	for addr, q := range w.servers {
		s.Servers = append(s.Servers, ServerStats{
			Addr: addr, Calls: len(q.shared.unanswered) + len(q.alone.unanswered), Lanes: len(q.shared.ready) + len(q.alone.ready),
		})
	}
	slices.SortFunc(s.Servers, func(a, b ServerStats) int { return cmp.Compare(a.Addr, b.Addr) })
	return s
}
