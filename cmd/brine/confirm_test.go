package main

import (
	"io"
	"strings"
	"testing"
)

// If several answers arrive at once, each one answers its own question.
func TestEachQuestionHasItsAnswer(t *testing.T) {
	t.Parallel()
	e := &env{stdin: strings.NewReader("y\nno\n YES \ny"), stderr: io.Discard}
	for i, want := range []bool{true, false, true, true, false} {
		if err := confirm(e, false, "Go on?"); (err == nil) != want {
			t.Errorf("question %d: %v, want yes: %t", i, err, want)
		}
	}
	if err := confirm(&env{stderr: io.Discard}, false, "Go on?"); err == nil {
		t.Error("nobody answered, and it went on")
	}
	if err := confirm(&env{stderr: io.Discard}, true, "Go on?"); err != nil {
		t.Errorf("--yes: %v", err)
	}
}
