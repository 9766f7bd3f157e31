package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"brine/internal/term"
)

// screen shows lines that say how something goes: on a terminal they are drawn over the ones before, elsewhere they follow them.
type screen struct {
	out      io.Writer
	terminal bool
	drawn    int // lines on the terminal that the next drawing goes over
}

func newScreen(out io.Writer, asJSON bool) screen {
	return screen{out: out, terminal: !asJSON && isTerminal(out)}
}

// every is how often to show something.
func (s *screen) every() time.Duration {
	if s.terminal {
		return 500 * time.Millisecond
	}
	return 2 * time.Second
}

func (s *screen) show(lines []string) {
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn)
	}
	s.drawn = 0
	for _, line := range lines {
		if s.terminal {
			b.WriteString("\x1b[2K")
			s.drawn++
		}
		b.WriteString(term.Line(line))
		b.WriteByte('\n')
	}
	_ = term.Draw(s.out, b.String()) // progress that cannot be shown is not worth failing for
}

// object prints a JSON line.
func (s *screen) object(v any) {
	_, _ = io.WriteString(s.out, jsonText(v)+"\n")
}

// jsonText is a struct of numbers and texts as JSON, which has no error.
func jsonText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// about words an estimated size; the prefix says that it is one.
func about(bytes int64) string {
	switch {
	case bytes == 0:
		return "-"
	case bytes < 1<<20:
		return fmt.Sprintf("~%d KiB", (bytes+1<<10-1)>>10)
	}
	return fmt.Sprintf("~%s MiB", thousands((bytes+1<<20-1)>>20))
}

// clock words a number of seconds, whole ones where that is enough.
func clock(seconds float64) time.Duration {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// eta is the seconds that are left at the mean rate so far; −1 while there is none.
func eta(elapsed time.Duration, done, left int64) float64 {
	switch {
	case left == 0:
		return 0
	case done == 0:
		return -1
	}
	return elapsed.Seconds() / float64(done) * float64(left)
}

// remaining words what eta gives.
func remaining(eta float64) string {
	if eta < 0 {
		return "?"
	}
	return clock(eta).String()
}

// percent is how much of a whole is done: all of nothing.
func percent(done, of int64) float64 {
	if of <= 0 {
		return 100
	}
	return 100 * float64(done) / float64(of)
}
