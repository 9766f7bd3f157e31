package term

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"brine/internal/backoff"
)

// Screen shows lines of progress. On a terminal it draws them over the previous ones; elsewhere it appends them.
type Screen struct {
	Out      io.Writer
	Terminal bool // draw over the previous lines

	drawn int // lines on the terminal that the next Show replaces
}

// NewScreen returns a screen. JSON lines are never drawn over.
func NewScreen(out io.Writer, asJSON bool) Screen {
	return Screen{Out: out, Terminal: !asJSON && IsTerminal(out)}
}

// Follow calls draw at regular intervals until ctx is done.
func (s *Screen) Follow(ctx context.Context, draw func()) {
	every := 2 * time.Second
	if s.Terminal {
		every = 500 * time.Millisecond
	}
	for backoff.Wait(ctx, every) == nil {
		draw()
	}
}

// During calls draw at regular intervals while work runs. After work returns, draw is not called again.
func (s *Screen) During(work, draw func()) {
	ctx, stop := context.WithCancel(context.Background())
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		s.Follow(ctx, draw)
	}()
	defer func() {
		stop()
		<-drawn
	}()
	work()
}

// Show replaces the lines shown before.
func (s *Screen) Show(lines ...string) {
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn)
	}
	s.drawn = 0
	for _, line := range lines {
		if s.Terminal {
			b.WriteString("\x1b[2K")
			s.drawn++
		}
		b.WriteString(Line(line))
		b.WriteByte('\n')
	}
	_ = Draw(s.Out, b.String()) // a failure to show progress is not worth failing for
}

// Keep leaves the current lines in place: the next output follows them.
func (s *Screen) Keep() { s.drawn = 0 }

// JSON prints a value as a line.
func (s *Screen) JSON(v any) { _, _ = io.WriteString(s.Out, JSON(v)+"\n") }

// JSON returns a struct of numbers and texts as a line of JSON; encoding it cannot fail.
func JSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
