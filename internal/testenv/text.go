package testenv

import (
	"strings"
	"sync"
)

// Text is a text that is read while it is written, as a log is. The zero Text is ready.
type Text struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (t *Text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

// String returns what has been written so far.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
