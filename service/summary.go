package service

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"brine/event"
	"brine/internal/fault"
	"brine/internal/term"
)

// became counts what became of a half's records since the start.
type became struct {
	written, leftOut atomic.Int64

	mu     sync.Mutex
	dead   map[event.Reason]int64
	silent map[event.LeftOut]int64 // number of events
	passed map[string]int64        // number of events, by the table or index whose condition failed
}

// inherit takes over the counts of from.
func (b *became) inherit(from *became) {
	b.written.Store(from.written.Load())
	b.leftOut.Store(from.leftOut.Load())
	from.mu.Lock()
	defer from.mu.Unlock()
	b.dead, b.silent, b.passed = maps.Clone(from.dead), maps.Clone(from.silent), maps.Clone(from.passed)
}

// filter counts events for which a condition of rows or documents failed.
func (b *became) filter(events map[string]int) {
	if len(events) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.passed == nil {
		b.passed = map[string]int64{}
	}
	for of, n := range events {
		b.passed[of] += int64(n)
	}
}

// leaveOut counts events that write nothing.
func (b *became) leaveOut(events map[event.LeftOut]int) {
	if len(events) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.silent == nil {
		b.silent = map[event.LeftOut]int64{}
	}
	for why, n := range events {
		b.silent[why] += int64(n)
	}
}

func (b *became) deadLettered(n int, reason event.Reason) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead == nil {
		b.dead = map[event.Reason]int64{}
	}
	b.dead[reason] += int64(n)
}

// Summary is what became of a half's records, at the end of a run.
type Summary struct {
	Name    string           `json:"pipeline"` // pipeline.half
	Result  string           `json:"result"`   // done, or all_rejected
	Written int64            `json:"written"`
	Dead    int64            `json:"dead_letters"`
	Reasons map[string]int64 `json:"dead_letters_by_reason"`
	LeftOut int64            `json:"left_out"`
	// Number of events that write nothing, by reason; absent if there are none. A record can have several.
	LeftOutBy map[string]int64 `json:"left_out_by_reason,omitempty"`
	// Number of events for which the when of a row or document failed, by table or index; absent if there are none.
	Filtered map[string]int64 `json:"filtered,omitempty"`
	Ties     int64            `json:"ties"`
	// Of the records that were looked at, one in 64, the number that hold an undeclared field, by its path; absent if there are none.
	Undeclared map[string]int64 `json:"undeclared,omitempty"`
	LookedAt   int64            `json:"looked_at,omitempty"`
	Halted     string           `json:"halted,omitempty"` // reason
}

// Summaries returns the summary of each half, and an error if a half has halted because all of its records are rejected. The service must
// have been opened ToRun.
func (s *Service) Summaries() (all []Summary, halted error) {
	var standing []error
	for _, h := range s.all() {
		of := h.summary()
		all = append(all, of)
		if of.Halted != "" {
			standing = append(standing, fmt.Errorf("%s: %s", of.Name, of.Halted))
		}
	}
	if len(standing) > 0 {
		halted = fault.New(fault.Rejected, errors.Join(standing...),
			"correct the pipeline and restart it; or, if these records should become dead letters, set its halt_after_rejects")
	}
	return all, halted
}

func (h *Half) summary() Summary {
	s := Summary{Name: h.name, Result: "done", Written: h.became.written.Load(), LeftOut: h.became.leftOut.Load(), Reasons: map[string]int64{}}
	if h.ties != nil {
		s.Ties = h.ties.count()
	}
	h.became.mu.Lock()
	defer h.became.mu.Unlock()
	for reason, n := range h.became.dead {
		s.Reasons[string(reason)] = n
		s.Dead += n
	}
	for why, n := range h.became.silent {
		if s.LeftOutBy == nil {
			s.LeftOutBy = map[string]int64{}
		}
		s.LeftOutBy[string(why)] = n
	}
	s.Filtered = maps.Clone(h.became.passed)
	if seen := h.undeclared.Counts(); len(seen.Names) > 0 {
		s.Undeclared, s.LookedAt = seen.Names, seen.Looked
	}
	if why := h.loop.Status().AllRejected; why != "" {
		s.Result, s.Halted = "all_rejected", why
	}
	return s
}

// Line returns the summary as a line for people.
func (s *Summary) Line() string {
	line := fmt.Sprintf("%s: %s written, %s%s, %s left out%s", s.Name, term.Count(int(s.Written), "record"),
		term.Count(int(s.Dead), "dead letter"),
		term.ByReason(s.Reasons), term.Thousands(s.LeftOut), term.ByReason(s.LeftOutBy))
	line += term.LeftOut[string](nil, s.Filtered)
	if s.Ties > 0 {
		line += fmt.Sprintf(", %s with changes that tie", term.Count(int(s.Ties), "cell"))
	}
	if s.Halted != "" {
		line += "; HALTED"
	}
	return line
}
