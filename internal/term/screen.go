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

// Screen shows lines that say how something goes: on a terminal each showing is drawn over the one before, elsewhere it follows it.
type Screen struct {
	Out      io.Writer
	Terminal bool // lines are drawn over

	drawn int // lines on the terminal that the next showing goes over
}

// NewScreen returns a screen. JSON lines are never drawn over.
func NewScreen(out io.Writer, asJSON bool) Screen {
	return Screen{Out: out, Terminal: !asJSON && IsTerminal(out)}
}

// Follow calls draw every so often until ctx ends.
func (s *Screen) Follow(ctx context.Context, draw func()) {
	every := 2 * time.Second
	if s.Terminal {
		every = 500 * time.Millisecond
	}
	for backoff.Wait(ctx, every) == nil {
		draw()
	}
}

// During calls draw every so often while work goes on; once it returns, nothing is drawn any more.
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
	_ = Draw(s.Out, b.String()) // progress that cannot be shown is not worth failing for
}

// Keep leaves what is shown where it is: what is printed next follows it.
func (s *Screen) Keep() { s.drawn = 0 }

// JSON prints a value as a line.
func (s *Screen) JSON(v any) { _, _ = io.WriteString(s.Out, JSON(v)+"\n") }

// JSON returns a struct of numbers and texts as a line of JSON, of which there is no error.
func JSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
