package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// reading is what the live line shows of one half of a pipeline; the counts are since the start.
type reading struct {
	Name     string  `json:"pipeline"` // pipeline.half
	Events   int64   `json:"events"`   // settled
	Batches  int64   `json:"batches"`
	Lag      int64   `json:"lag"`               // offsets, an upper bound of the records; −1 while unknown
	Retries  int64   `json:"retries"`           // mutations or events that were written again
	Retried  string  `json:"retried,omitempty"` // why, the last time: exception class or reason
	Cause    string  `json:"cause,omitempty"`   // of retries that go on: the server, and what it said
	Dead     int64   `json:"dead_letters"`
	Ties     int64   `json:"ties"`              // cells of which two changes of one version say different things; of rows
	Waiting  string  `json:"waiting,omitempty"` // why a partition stands still
	Regions  int     `json:"regions,omitempty"`
	PerSec   float64 `json:"events_per_second"`
	MeanSize float64 `json:"mean_batch"`
}

// live prints how the pipelines go: on a terminal one line per half that is drawn over, elsewhere a line every so often, and
// with json an object per line. It ends with ctx.
type live struct {
	screen
	json    bool
	samples func() []reading
	before  map[string]reading
	quiet   map[string]bool // said that nothing changes
	at      time.Time
	mu      sync.Mutex // held while something is printed
}

func newLive(out io.Writer, asJSON bool, samples func() []reading) *live {
	return &live{screen: newScreen(out, asJSON), json: asJSON, samples: samples, before: map[string]reading{}, quiet: map[string]bool{}, at: time.Now()}
}

func (l *live) run(ctx context.Context) {
	tick := time.NewTicker(l.every())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			l.draw()
			return
		case <-tick.C:
			l.draw()
		}
	}
}

// pauseFor keeps the line away while something else is printed.
func (l *live) pauseFor(print func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drawn = 0 // what is printed must not be drawn over
	print()
}

// draw prints the state since the last drawing.
func (l *live) draw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	span := now.Sub(l.at).Seconds()
	l.at = now
	var lines []string
	for _, s := range l.samples() {
		old := l.before[s.Name]
		l.before[s.Name] = s
		same := s == old
		s.PerSec = float64(s.Events-old.Events) / span
		if s.Batches > old.Batches {
			s.MeanSize = float64(s.Events-old.Events) / float64(s.Batches-old.Batches)
		}
		if l.json {
			lines = append(lines, jsonText(s))
			continue
		}
		if !l.terminal && same && l.quiet[s.Name] { // once more after the last change, so that its rate is seen to end
			continue
		}
		l.quiet[s.Name] = same
		lines = append(lines, s.line())
	}
	l.show(lines)
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
		lag = thousands(s.Lag)
	}
	line := fmt.Sprintf("%-20s %11s events  %9s/s  lag %8s  batch %5.0f  retries %d%s  dead letters %d",
		s.Name, thousands(s.Events), thousands(int64(s.PerSec)), lag, s.MeanSize, s.Retries, inBrackets(s.Retried), s.Dead)
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
