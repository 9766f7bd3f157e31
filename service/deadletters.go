package service

import (
	"time"

	"brine/event"
	"brine/ingest/deadletter"
)

// DeadLetterTarget returns a target that writes dead letters of a half to the half's store again, as its loop would. It gives up once no
// dead letter has settled for patience (0: never). Repeated failures are logged at most once a minute. The service must have been opened
// ToWrite.
func (s *Service) DeadLetterTarget(half string, patience time.Duration) deadletter.Target {
	h := s.Half(half)
	o := h.Ingest()
	o.EnsureDefaults()
	var warned time.Time
	return deadletter.Target{
		Name: half, Group: o.Group, Schema: o.Schema, Writer: o.Writer, RetryMin: o.RetryMin, RetryMax: o.RetryMax, Patience: patience,
		Cause: func() string { return s.CauseOf(h) },
		Retried: func(tries int, f event.Failure) {
			if tries >= 3 && time.Since(warned) >= time.Minute {
				s.log.Warn("dead letters are waiting", "pipeline", half, "tries", tries, "reason", f.Reason, "error", f.Err)
				warned = time.Now()
			}
		},
	}
}
