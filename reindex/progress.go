package reindex

import (
	"fmt"
	"time"
)

// Progress is how far a Run is.
type Progress struct {
	Phase   Phase
	Elapsed time.Duration // since New

	Rows, Ranges, RangesLeft int64 // of the tables: rows that are in the new index, by any process
	Records, RecordsLeft     int64 // of the topic that is being read: by this process, and how many are left of this round
	Topic                    string

	Refused  int64
	Examples []string // of what was refused
	Waiting  error    // why there is no progress; nil while there is
	Former   []string // the indexes whose place was taken
}

// Progress may be asked at any time, from any goroutine.
func (r *Run) Progress() Progress {
	p := Progress{Elapsed: time.Since(r.began)}
	r.keeper.mu.Lock()
	if s := r.keeper.state; s != nil {
		p.Phase, p.Refused, p.Examples, p.Former = s.Phase, s.Refused, s.Examples, s.Former
		for _, at := range s.Sources {
			p.Rows += at.Rows
			p.Ranges += int64(len(at.Ranges))
			p.RangesLeft += int64(at.left())
		}
	}
	r.keeper.mu.Unlock()
	if d := r.reading.Load(); d != nil {
		p.Topic = d.source.Ingest.Topic
		p.RecordsLeft = d.plan.Left()
		for _, part := range d.replay.Progress().Partitions {
			p.Records += part.Done
		}
		p.RecordsLeft -= p.Records
	}
	r.mu.Lock()
	p.Waiting = r.waiting
	r.mu.Unlock()
	return p
}

// waits records why there is no progress; nil: there is.
func (r *Run) waits(err error) {
	r.mu.Lock()
	r.waiting = err
	r.mu.Unlock()
}

// maxRefused is how many documents may be refused before the run is stopped, unless they are to be skipped.
const maxRefused = 100

// refuse notes a document that the new index does not take.
func (r *Run) refuse(what string) error {
	var n int64
	r.keeper.update(func(s *state) {
		s.refuse(what)
		n = s.Refused
	})
	if n > maxRefused && !r.opts.SkipRefused {
		return fmt.Errorf("%w: more than %d of them; the last: %s", ErrRefused, maxRefused, what)
	}
	return nil
}
