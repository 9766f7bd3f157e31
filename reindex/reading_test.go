package reindex

import (
	"net"
	"testing"
)

// The reason that a run waits is in plain words.
func TestReadingWaitsInPlainWords(t *testing.T) {
	_, err := new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:1")
	p := Progress{Phase: Scanning, Waiting: err}
	if got, want := p.reading(0, 0).Waiting, "127.0.0.1:1: connection refused"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
