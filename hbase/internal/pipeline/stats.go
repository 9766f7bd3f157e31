package pipeline

import (
	"cmp"
	"slices"
)

// Stats is what a client holds and has in progress at one moment.
type Stats struct {
	Buffered int           // bytes of mutations without a result
	Blocked  int           // Submits waiting for room
	Lanes    int           // lanes with mutations, queued or in a call
	Resting  int           // of these, lanes waiting out a pause after a failure
	Fullest  int           // bytes in the fullest lane; a lane may hold a quarter of MaxBufferedBytes
	Servers  []ServerStats // by address; servers that mutations have been sent to
}

// ServerStats is what is in progress at one region server.
type ServerStats struct {
	Addr  string
	Calls int // unanswered calls of mutations
	Lanes int // lanes that are ready and wait for a call
}

// Stats reads all lanes, which takes some microseconds per thousand lanes. Call it per scrape or status line, not per batch.
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
