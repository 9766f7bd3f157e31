package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"brine/internal/sockets"
)

// admin is the process's HTTP port: metrics, health, what skew there is, how the pipelines go, and profiles. It is for operators, not for users.
type admin struct {
	listener net.Listener
	server   *http.Server
}

// health is one check: nil error means healthy, detail is for people and machines either way.
type health func() (detail any, err error)

func newAdmin(addr string, reg *prometheus.Registry, healthy, ready health, debug func(*http.ServeMux)) (*admin, error) {
	l, err := listen(addr, "http.listen (--http-port)")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{EnableOpenMetrics: true, Registry: reg}))
	mux.HandleFunc("GET /healthz", serveHealth(healthy))
	mux.HandleFunc("GET /readyz", serveHealth(ready))
	debug(mux)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return &admin{listener: l, server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}}, nil
}

// listen opens a port that goes on accepting after errors; one that is in use is an error that names the setting.
func listen(addr, setting string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, portError(err, setting)
	}
	return sockets.Listener(l, func(err error) { slog.Warn(setting, "error", err) }), nil
}

// portError tells a port in use from other errors.
func portError(err error, setting string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return &exitError{exitPort, fmt.Errorf("%s: the port is in use by another process: %w", setting, err), "choose another port, or 0 for a free one"}
	}
	return fmt.Errorf("%s: %w", setting, err)
}

func (a *admin) addr() string { return a.listener.Addr().String() }

// run serves until ctx ends.
func (a *admin) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { closing("the admin port", a.server) })
	defer stop()
	if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin port: %w", err)
	}
	return nil
}

func serveHealth(check health) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		detail, err := check()
		if err != nil {
			writeJSON(w, http.StatusServiceUnavailable, map[string]any{"ok": false, "reason": err.Error(), "partitions": detail})
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"ok": true, "partitions": detail})
	}
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // the client is gone: nobody is left to tell
}
