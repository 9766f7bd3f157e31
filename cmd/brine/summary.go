package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"brine/event"
)

// became counts what became of a half's records since the start.
type became struct {
	written, leftOut atomic.Int64

	mu   sync.Mutex
	dead map[event.Reason]int64
}

func (b *became) deadLettered(n int, reason event.Reason) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead == nil {
		b.dead = map[event.Reason]int64{}
	}
	b.dead[reason] += int64(n)
}

// summary is what became of a half's records, at the end of a run.
type summary struct {
	Name    string           `json:"pipeline"` // pipeline.half
	Result  string           `json:"result"`   // done, or all_rejected
	Written int64            `json:"written"`
	Dead    int64            `json:"dead_letters"`
	Reasons map[string]int64 `json:"dead_letters_by_reason"`
	LeftOut int64            `json:"left_out"`
	Ties    int64            `json:"ties"`
	Halted  string           `json:"halted,omitempty"` // why
}

func (h *half) summary() summary {
	s := summary{Name: h.name, Result: "done", Written: h.became.written.Load(), LeftOut: h.became.leftOut.Load(), Reasons: map[string]int64{}}
	if h.ties != nil {
		s.Ties = h.ties.count()
	}
	h.became.mu.Lock()
	defer h.became.mu.Unlock()
	for reason, n := range h.became.dead {
		s.Reasons[string(reason)] = n
		s.Dead += n
	}
	if why := h.loop.Status().AllRejected; why != "" {
		s.Result, s.Halted = "all_rejected", why
	}
	return s
}

func (s *summary) line() string {
	var reasons []string
	for _, reason := range sortedKeys(s.Reasons) {
		reasons = append(reasons, reason+" "+thousands(s.Reasons[reason]))
	}
	line := fmt.Sprintf("%s: %s written, %s%s, %s left out", s.Name, count(int(s.Written), "record"), count(int(s.Dead), "dead letter"),
		inBrackets(strings.Join(reasons, ", ")), thousands(s.LeftOut))
	if s.Ties > 0 {
		line += fmt.Sprintf(", %s with changes that tie", count(int(s.Ties), "cell"))
	}
	if s.Halted != "" {
		line += "; HALTED"
	}
	return line
}

// summarize prints what became of the records, and fails when a half stands still because all of its records are rejected.
func (s *service) summarize(out io.Writer, asJSON bool) error {
	screen := screen{out: out}
	var halted []error
	for _, h := range s.halves {
		of := h.summary()
		if asJSON {
			screen.object(of)
		} else {
			screen.show([]string{of.line()})
		}
		if of.Halted != "" {
			halted = append(halted, fmt.Errorf("%s: %s", of.Name, of.Halted))
		}
	}
	if len(halted) == 0 {
		return nil
	}
	return &exitError{exitRejected, errors.Join(halted...), "correct the pipeline and start it again; or, if these records are to be dead letters, set its halt_after_rejects"}
}
