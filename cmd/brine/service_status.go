package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/event"
	"brine/ingest"
	"brine/skew"
)

// samples is the state of every half for the live line.
func (s *service) samples() []reading {
	out := make([]reading, 0, len(s.halves))
	for _, h := range s.halves {
		status := h.loop.Status()
		smp := reading{Name: h.name, Events: h.settled.Load(), Batches: h.batches.Load(), Dead: h.dead.Load(), Lag: -1}
		smp.Retries, smp.Retried = s.retriesOf(h)
		smp.Cause = s.causeOf(h)
		smp.Regions = s.regionsOf(h)
		if h.ties != nil {
			smp.Ties = h.ties.count()
		}
		if status.Joined || len(status.Partitions) > 0 { // what it had when it left its group is what is known
			smp.Lag = 0
		}
		if !status.Joined {
			smp.Waiting = status.Detail
		}
		if status.NoTopic {
			smp.Waiting = status.Detail
		}
		for _, p := range status.Partitions {
			smp.Lag += p.Lag()
			if p.State == ingest.Halted || p.State == ingest.Waiting || p.State == ingest.Retrying {
				smp.Waiting = fmt.Sprintf("partition %d is %s: %s", p.Partition, p.State, p.Detail)
			}
		}
		out = append(out, smp)
	}
	return out
}

// regionsOf is the number of regions that a half writes to; 0 for documents.
func (s *service) regionsOf(h *half) (n int) {
	if p := s.cfg.Pipeline(h.pipeline); h.kind == "rows" {
		for _, r := range p.Rows {
			n += s.tables.Counter(r.Table, skew.Shape{}).Regions()
		}
	}
	return n
}

// retriesOf is what a half wrote again, the store's client by itself or the loop, and why it did so last.
func (s *service) retriesOf(h *half) (n int64, reason string) {
	n = h.retries.Load()
	if r, ok := h.retried.Load().(event.Reason); ok {
		reason = string(r)
	}
	if p := s.cfg.Pipeline(h.pipeline); h.kind == "rows" {
		again, class := s.resent.of(p)
		n, reason = n+again, cmp.Or(class, reason)
	}
	return n, reason
}

// causeOf is what a half's store fails with again and again, and at which address.
func (s *service) causeOf(h *half) string {
	of := []string{h.pipeline}
	if p := s.cfg.Pipeline(h.pipeline); h.kind == "rows" {
		of = nil
		for _, r := range p.Rows {
			of = append(of, r.Table)
		}
	}
	if err := s.outages.cause(of...); err != nil {
		return clip(err.Error(), shownCause)
	}
	return ""
}

// shownCause is how much of a cause is shown: a server may say whole pages.
const shownCause = 500

// healthy is the health of the whole process: watermarks that move, not a process that is there.
func (s *service) healthy() (any, error) {
	var problems []error
	detail := map[string]any{}
	for _, h := range s.halves {
		status := h.loop.Status()
		detail[h.name] = status
		for _, p := range status.Problems(time.Now(), s.cfg.HTTP.Stall) {
			if _, why := s.retriesOf(h); why != "" {
				p += "; last retry because of " + why
			}
			if cause := s.causeOf(h); cause != "" && !strings.Contains(p, cause) {
				p += ": " + cause
			}
			problems = append(problems, fmt.Errorf("%s: %s", h.name, p))
		}
	}
	for _, server := range s.servers {
		if err := server.broken(); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", server.name, err))
		}
	}
	return detail, errors.Join(problems...)
}

// ready is healthy, and every loop a member of its group.
func (s *service) ready() (any, error) {
	detail, err := s.healthy()
	for _, h := range s.halves {
		if status := h.loop.Status(); !status.Joined {
			err = errors.Join(err, fmt.Errorf("%s: not yet a member of its group%s", h.name, inBrackets(status.Detail)))
		}
	}
	return detail, err
}
