package service

import (
	"os"
	"path/filepath"
	"testing"
)

// A file counts as changed once it holds something else, and the same at two looks: not while it is written, nor while it is away, nor when
// it holds again what it held.
func TestChangesAreSeenOnceTheyAreWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "brine.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	changed := changes(file)
	for i, step := range []struct {
		do   func()
		want bool
	}{
		{func() {}, false},
		{func() { write("half of b") }, false},
		{func() { write("b") }, false},
		{func() {}, true},
		{func() {}, false},
		{func() { os.Remove(file) }, false},
		{func() { write("b") }, false},
		{func() {}, false},
		{func() { write("c") }, false},
		{func() { write("b") }, false},
		{func() {}, false},
		{func() { write("") }, false},
		{func() {}, true},
	} {
		if step.do(); changed() != step.want {
			t.Errorf("step %d: changed is %v", i, !step.want)
		}
	}
}
