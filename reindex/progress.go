package reindex

import (
	"fmt"
	"time"
)

// Progress is the progress of a Run.
type Progress struct {
	Phase   Phase
	Elapsed time.Duration // since New

	Rows, Ranges, RangesLeft int64 // of the tables: rows in the new index, written by any process
	Records, RecordsLeft     int64 // of the topic being read: by this process, and how many are left in this round
	Topic                    string

	Refused  int64
	Examples []string // of refused documents
	Waiting  error    // the reason that there is no progress; nil if there is
	Former   []string // the indexes that were replaced
}

// Progress returns the progress. It may be called at any time, from any goroutine.
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

// waits records the reason that there is no progress; nil: there is.
func (r *Run) waits(err error) {
	r.mu.Lock()
	r.waiting = err
	r.mu.Unlock()
}

// maxRefused is the number of refused documents after which the run stops, unless they are to be skipped.
const maxRefused = 100

// refuse records a document that the new index refuses.
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
