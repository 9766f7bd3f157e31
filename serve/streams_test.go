package serve

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
)

// TestAStreamThatPanicsEndsAlone checks that the stream releases its place, and that neither the process nor another stream ends.
func TestAStreamThatPanicsEndsAlone(t *testing.T) {
	var log bytes.Buffer
	s := newStreams(slog.New(slog.NewTextHandler(&log, nil)))
	end, err := s.begin("u1")
	if err != nil {
		t.Fatal(err)
	}
	conn, other := net.Pipe()
	defer other.Close()
	s.take(conn, func() {
		defer end()
		defer conn.Close()
		panic("a fault")
	})
	s.wait(context.Background())
	if len(s.open)+len(s.conns) != 0 {
		t.Errorf("open: %v, %d connections", s.open, len(s.conns))
	}
	if text := log.String(); !strings.Contains(text, "a fault") || !strings.Contains(text, "TestAStreamThatPanicsEndsAlone") {
		t.Errorf("the log: %s", text)
	}
}
