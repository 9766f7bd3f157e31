package term

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestScreenDrawsOverWhatItShowed(t *testing.T) {
	var out strings.Builder
	s := Screen{Out: &out, Terminal: true}
	s.Show("a", "b")
	s.Show("c\x1b")
	s.Keep()
	s.Show("d")
	if want := "\x1b[2Ka\n\x1b[2Kb\n\x1b[2A\x1b[2Kc\\x1b\n\x1b[2Kd\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	s = NewScreen(&out, false)
	s.Show("a")
	s.Show("b")
	s.JSON(map[string]int{"n": 1})
	if out.String() != "a\nb\n{\"n\":1}\n" {
		t.Errorf("to a file: %q", out.String())
	}
}

func TestScreenFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for terminal, want := range map[bool]int{true: 19, false: 4} {
			ctx, cancel := context.WithTimeout(t.Context(), 9900*time.Millisecond)
			n := 0
			s := Screen{Terminal: terminal}
			s.Follow(ctx, func() { n++ })
			cancel()
			if n != want {
				t.Errorf("terminal %t: drawn %d times in 9.9 s, want %d", terminal, n, want)
			}
		}
	})
}

func TestTable(t *testing.T) {
	var out strings.Builder
	table := Table{Out: &out}
	table.Row("NAME", "N")
	table.Row("绿茶\n", "1")
	table.Painted(Paint(true).Red, "x", "22")
	table.Flush()
	if want := "NAME    N\n绿茶\\n  1\nx       \x1b[31m22\x1b[0m\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
