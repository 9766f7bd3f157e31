package admin

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestPortIsASocket checks that only the process's user may use a Unix socket, and is served everything without a token. It also checks
// that a socket left behind by a process is taken over, but not one in use.
func TestPortIsASocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	log := slog.New(slog.DiscardHandler)
	left, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	if _, err := Listen(unixPrefix+path, "http.listen", log); !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("where somebody listens: %v", err)
	}
	left.Close()
	l, err := Listen(unixPrefix+path, "http.listen", log)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	p := New(l, unixPrefix+path, Options{Metrics: prometheus.NewRegistry(), Healthy: fine, Ready: fine, Log: log, Token: token})
	p.Handle("GET /debug/skew", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { WriteJSON(w, http.StatusOK, struct{}{}) }))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	for _, path := range []string{"/healthz", "/debug/skew"} {
		if err := (Client{Addr: p.URL()}).Get(t.Context(), path, new(struct{})); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
	for _, other := range []string{t.TempDir(), filepath.Join(t.TempDir(), "no", "a.sock")} {
		if l, err := Listen(unixPrefix+other, "http.listen", log); err == nil || !strings.Contains(err.Error(), "http.listen") {
			t.Errorf("%s: %v %v", other, l, err)
		}
	}
}
