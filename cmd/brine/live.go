package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"brine/internal/term"
	"brine/service"
)

// reading is what the live line shows for one half of a pipeline.
type reading struct {
	service.Status
	PerSec   float64 `json:"events_per_second"`
	MeanSize float64 `json:"mean_batch"`
}

// live prints the progress of the pipelines until ctx is done: on a terminal, one line per half that is redrawn; elsewhere, a line at
// intervals; with json, an object per line.
type live struct {
	term.Screen
	json    bool
	samples func() []service.Status
	before  map[string]service.Status
	quiet   map[string]bool // halves already reported as unchanged
	at      time.Time
	mu      sync.Mutex // held while printing
}

func newLive(out io.Writer, asJSON bool, samples func() []service.Status) *live {
	return &live{Screen: term.NewScreen(out, asJSON), json: asJSON, samples: samples, before: map[string]service.Status{},
		quiet: map[string]bool{}, at: time.Now()}
}

func (l *live) run(ctx context.Context) {
	l.Follow(ctx, l.draw)
	l.draw()
}

// pauseFor calls print while the live line is held back.
func (l *live) pauseFor(print func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Keep() // do not draw over what is printed
	print()
}

// draw prints the changes since the last draw.
func (l *live) draw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	span := now.Sub(l.at).Seconds()
	l.at = now
	var lines []string
	for _, status := range l.samples() {
		s, old := reading{Status: status}, l.before[status.Name]
		l.before[s.Name] = status
		same := status.Same(old)
		s.PerSec = float64(s.Events-old.Events) / span
		if s.Batches > old.Batches {
			s.MeanSize = float64(s.Events-old.Events) / float64(s.Batches-old.Batches)
		}
		if l.json {
			lines = append(lines, term.JSON(s))
			continue
		}
		if !l.Terminal && same && l.quiet[s.Name] { // draw once more after the last change, so that the rate is seen to drop to 0
			continue
		}
		l.quiet[s.Name] = same
		lines = append(lines, s.line())
	}
	l.Show(lines...)
}

func inBrackets(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func (s reading) line() string {
	lag := "?"
	if s.Lag >= 0 {
		lag = term.Thousands(s.Lag)
	}
	line := fmt.Sprintf("%-20s %11s events  %9s/s  lag %8s offsets  batch %5.0f  retries %d%s  dead letters %d",
		s.Name, term.Thousands(s.Events), term.Thousands(int64(s.PerSec)), lag, s.MeanSize, s.Retries, inBrackets(s.Retried), s.Dead)
	if s.Regions > 0 {
		line += fmt.Sprintf("  regions %d", s.Regions)
	}
	if s.Waiting != "" {
		line += "  WAITING: " + s.Waiting
	}
	if s.Cause != "" && !strings.Contains(s.Waiting, s.Cause) {
		line += "  RETRYING: " + s.Cause
	}
	return line
}
