package service

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/ingest"
	"brine/internal/term"
	"brine/internal/wording"
	"brine/pressure"
	"brine/service/stores"
	"brine/skew"
)

// PipelinesPath is the path on the admin port that serves Status as JSON.
const PipelinesPath = "/debug/pipelines"

// Status is the state of one half of a pipeline. Counts are since the start.
type Status struct {
	Name    string `json:"pipeline"` // pipeline.half
	Events  int64  `json:"events"`   // settled
	Batches int64  `json:"batches"`
	Lag     int64  `json:"lag"`               // offsets, an upper bound of the records; −1: unknown
	Retries int64  `json:"retries"`           // mutations or events written again
	Retried string `json:"retried,omitempty"` // reason of the last one: exception class or reason
	Cause   string `json:"cause,omitempty"`   // of retries that go on: the server and its error
	Dead    int64  `json:"dead_letters"`
	Ties    int64  `json:"ties"`              // cells with two different changes of one version; of rows
	Waiting string `json:"waiting,omitempty"` // why a partition has stopped
	Regions int    `json:"regions,omitempty"`

	State      string `json:"state"`      // running, paused, limited, yielding, joining, or the worst state of a partition
	Group      string `json:"group"`      // the consumer group
	Partitions int    `json:"partitions"` // owned by this process
	// Kept is the number of seconds until the topic may delete the oldest unsettled record; nil: never, or unknown.
	Kept *float64 `json:"retention_seconds,omitempty"`

	Paused    bool    `json:"paused,omitempty"`     // somebody has paused it
	RateLimit float64 `json:"rate_limit,omitempty"` // records per second asked of the whole group; 0: no limit

	Backlog
	Limit string          `json:"limit,omitempty"` // the step that holds up the others; see package pressure
	Time  pressure.Shares `json:"time,omitzero"`   // how the half spent about the last minute
}

// Same reports whether nothing has happened since old, other than time passing.
func (s Status) Same(old Status) bool {
	s.Backlog, s.Limit, s.Time, s.Kept = old.Backlog, old.Limit, old.Time, old.Kept
	return s == old
}

// Status returns the state of each half. The service must have been opened ToRun.
func (s *Service) Status() []Status {
	halves := s.all()
	out := make([]Status, len(halves))
	for i, h := range halves {
		out[i] = s.StatusOf(h)
	}
	return out
}

// StatusOf returns the state of one half. The service must have been opened ToRun.
func (s *Service) StatusOf(h *Half) Status {
	loop := h.loop.Status()
	st := Status{Name: h.name, Events: h.settled.Load(), Batches: h.batches.Load(), Dead: h.dead.Load(), Lag: -1}
	st.Retries, st.Retried = s.retriesOf(h)
	st.Cause = s.CauseOf(h)
	st.Regions = s.regionsOf(h)
	where := h.Pressure()
	st.Backlog, st.Limit, st.Time = h.Backlog(time.Now()), where.Limits(), where.Shares
	if h.ties != nil {
		st.Ties = h.ties.count()
	}
	if loop.Joined || len(loop.Partitions) > 0 { // after it left its group, its last partitions still count
		st.Lag = 0
	}
	st.Paused, st.RateLimit = loop.Paused, loop.Limit
	st.Group, st.Partitions, st.State = h.group, len(loop.Partitions), stateOf(&loop)
	st.Waiting = h.waitsFor(&loop)
	if !loop.Joined || loop.NoTopic {
		st.Waiting = loop.Detail
	}
	for _, p := range loop.Partitions {
		st.Lag += p.Lag()
		if p.State == ingest.Halted || p.State == ingest.Waiting || p.State == ingest.Retrying {
			st.Waiting = fmt.Sprintf("%s is %s: %s", loop.Name(p), p.State, p.Detail)
		}
	}
	if left, known := s.kept.left(loop.Partitions, time.Now()); known {
		seconds := math.Round(left.Time.Seconds())
		st.Kept = &seconds
	}
	return st
}

// stateOf returns the state of a loop in one word.
func stateOf(loop *ingest.Status) string {
	if !loop.Joined || loop.NoTopic {
		return "joining"
	}
	worst := ingest.Running
	for _, bad := range []ingest.State{ingest.Halted, ingest.Waiting, ingest.Retrying} {
		if slices.ContainsFunc(loop.Partitions, func(p ingest.PartitionStatus) bool { return p.State == bad }) {
			worst = bad
			break
		}
	}
	switch {
	case loop.Paused:
		return "paused"
	case worst != ingest.Running:
		return string(worst)
	case loop.Limit > 0:
		return "limited"
	case loop.Yields > 0:
		return "yielding"
	}
	return string(ingest.Running)
}

// regionsOf returns the number of regions that a half writes to; 0 for documents.
func (s *Service) regionsOf(h *Half) (n int) {
	if h.kind == Rows {
		for _, r := range h.pipeline.Rows {
			n += s.tables.Counter(r.Table, skew.Shape{}).Regions()
		}
	}
	return n
}

// retriesOf returns the number of writes that the loop or the store's client repeated, and the reason of the last retry.
func (s *Service) retriesOf(h *Half) (n int64, reason string) {
	n = h.retries.Load()
	if r, ok := h.retried.Load().(event.Reason); ok {
		reason = string(r)
	}
	if h.kind == Rows {
		again, class := s.resent.of(h.pipeline)
		n, reason = n+again, cmp.Or(class, reason)
	}
	return n, reason
}

// CauseOf returns the error that a half's store keeps failing with, and the address that it comes from.
func (s *Service) CauseOf(h *Half) string {
	of := []string{h.pipeline.Name}
	if h.kind == Rows {
		of = nil
		for _, r := range h.pipeline.Rows {
			of = append(of, r.Table)
		}
	}
	if err := s.outages.Cause(of...); err != nil {
		return term.Clip(wording.Plain(err.Error()), stores.ShownCause)
	}
	return ""
}

// healthy checks the health of the process by its progress: watermarks must move.
func (s *Service) healthy() (any, error) {
	var problems []error
	detail := map[string]any{}
	for _, h := range s.all() {
		status := h.loop.Status()
		detail[h.name] = status
		for _, p := range status.Problems(time.Now(), s.Config().HTTP.Stall) {
			if _, why := s.retriesOf(h); why != "" {
				p += "; last retry because of " + why
			}
			if cause := s.CauseOf(h); cause != "" && !strings.Contains(p, cause) {
				p += ": " + cause
			}
			problems = append(problems, fmt.Errorf("%s: %s", h.name, p))
		}
	}
	for _, server := range s.servers {
		if err := server.Broken(); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", server.Name, err))
		}
	}
	return detail, errors.Join(problems...)
}

// ready requires that the service is healthy and every loop is a member of its group.
func (s *Service) ready() (any, error) {
	detail, err := s.healthy()
	for _, h := range s.all() {
		if status := h.loop.Status(); !status.Joined {
			why := ""
			if status.Detail != "" {
				why = " (" + status.Detail + ")"
			}
			err = errors.Join(err, fmt.Errorf("%s: not yet a member of its group%s", h.name, why))
		}
	}
	return detail, err
}
