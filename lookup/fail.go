package lookup

import (
	"errors"
	"fmt"

	"brine/event"
)

// absent makes events wait for a row, or rejects those that have waited long enough.
func (s *search) absent(w *want) {
	now := s.opts.Now()
	for _, i := range w.events {
		ev := &s.batch.Events[i]
		at := place{ev.Record.Partition, ev.Record.Offset}
		since, ok := s.since[at]
		if !ok {
			since = now
			s.wait(at)
		}
		f := s.opts.Schema.Fields[s.at[s.lacks(ev)]]
		if now.Sub(since) < s.opts.Wait {
			s.failures = append(s.failures, event.Failure{Index: i, Verdict: event.Retry, Reason: event.Awaited,
				Err: fmt.Errorf("field %s is looked up in table %s, but row %s has not arrived yet", f.Name, s.opts.Table, s.row(w))})
			continue
		}
		delete(s.since, at)
		s.reject(i, &event.Error{Reason: event.MissingField, Field: f.Where(),
			Detail: fmt.Sprintf("the key needs it, but row %s of table %s, where it is looked up, has not arrived within %v", s.row(w),
				s.opts.Table, s.opts.Wait)})
	}
}

// wait records that an event begins to wait. It eventually drops the events of revoked partitions.
func (s *search) wait(at place) {
	now := s.opts.Now()
	if len(s.since) >= maxYoung {
		for p, since := range s.since {
			if now.Sub(since) > 2*s.opts.Wait {
				delete(s.since, p)
			}
		}
	}
	s.since[at] = now
}

func (s *search) reject(i int, err error) {
	reason := event.BadKey
	if named := (*event.Error)(nil); errors.As(err, &named) {
		reason = named.Reason
	}
	s.failures = append(s.failures, event.Failure{Index: i, Verdict: event.Reject, Reason: reason, Err: err})
}

func (s *search) fail(events []int, verdict event.Verdict, reason event.Reason, err error) {
	for _, i := range events {
		s.failures = append(s.failures, event.Failure{Index: i, Verdict: verdict, Reason: reason, Err: err})
	}
}
