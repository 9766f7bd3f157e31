package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// screen shows lines that say how something goes: on a terminal they are drawn over the ones before, elsewhere they follow them.
type screen struct {
	out      io.Writer
	terminal bool
	drawn    int // lines on the terminal that the next drawing goes over
}

func newScreen(out io.Writer, asJSON bool) screen {
	s := screen{out: out}
	if f, ok := out.(*os.File); ok && !asJSON {
		info, err := f.Stat()
		s.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return s
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
		b.WriteString(line)
		b.WriteByte('\n')
	}
	_, _ = io.WriteString(s.out, b.String()) // progress that cannot be shown is not worth failing for
}
