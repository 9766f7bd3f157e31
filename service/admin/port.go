// Package admin is a process's HTTP port for operators: metrics, health, the state of its pipelines, and profiles.
//
// The invariant: however many clients there are, and however slowly they read, the port holds at most maxConnections connections, makes one
// scrape at a time, and serves strangers only metrics and health. A stranger is any caller from beyond loopback without the token.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"brine/internal/certs"
	"brine/internal/guard"
)

// Timeouts of connections. A profile may take longer, by the seconds it was requested for.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 90 * time.Second // more than most scrape intervals
	maxHeader     = 16 << 10
)

// maxConnections is far more than probes, Prometheus and a few people need, and far below a process's limit of file descriptors.
const maxConnections = 32

// Health is one check. A nil error means healthy; detail is for people and machines in either case.
type Health func() (detail any, err error)

// Options configure what the port serves, and to whom.
type Options struct {
	Metrics *prometheus.Registry
	Healthy Health
	Ready   Health
	Notes   func() []string // notes that accompany the checks without failing them; nil: none
	Hosts   []string        // allowed Host names besides loopback's, the port's own and IP addresses; *.NAME allows all below NAME
	Token   string          // grants access to everything; empty: no token does
	Follow  func() string   // returns the current token, which may change; nil: Token
	Pprof   bool            // whether profiles are served
	Log     *slog.Logger    // connection errors; nil: slog.Default
}

// Port serves on a listener.
type Port struct {
	listener net.Listener
	opts     Options
	names    guard.Names
	origin   http.CrossOriginProtection
	mux      *http.ServeMux
	server   *http.Server
}

// New returns a port that serves on l, which it owns from then on. It serves nothing before Run. addr is the configured address of l.
func New(l net.Listener, addr string, opts Options) *Port {
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.Follow == nil {
		opts.Follow = func() string { return opts.Token }
	}
	if opts.Notes == nil {
		opts.Notes = func() []string { return nil }
	}
	own, _, _ := net.SplitHostPort(addr)
	p := &Port{listener: l, opts: opts, names: guard.Names{Own: own, More: opts.Hosts, Addresses: true}, mux: http.NewServeMux()}
	conns := guard.NewConnections(maxConnections)
	p.server = &http.Server{
		Handler: http.HandlerFunc(p.serve), ConnState: conns.Changed, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(opts.Log.With("port", "admin").Handler(), slog.LevelWarn),
	}
	metrics := promhttp.HandlerFor(opts.Metrics, promhttp.HandlerOpts{EnableOpenMetrics: true, Registry: opts.Metrics})
	p.Handle("GET /metrics", newScrapes(metrics))
	p.Handle("GET /healthz", serveHealth(opts.Healthy, opts.Notes))
	p.Handle("GET /readyz", serveHealth(opts.Ready, opts.Notes))
	if opts.Pprof {
		p.Handle("GET /debug/pprof/", http.HandlerFunc(pprof.Index))
		p.Handle("GET /debug/pprof/profile", http.HandlerFunc(pprof.Profile))
		p.Handle("GET /debug/pprof/trace", http.HandlerFunc(pprof.Trace))
	}
	return p
}

// Handle adds a path that strangers cannot reach. It must be called before Run.
func (p *Port) Handle(pattern string, h http.Handler) { p.mux.Handle(pattern, h) }

// Addr returns the address that the port listens on.
func (p *Port) Addr() string { return p.listener.Addr().String() }

// local reports whether the port is a Unix socket, which only processes on this machine can connect to.
func (p *Port) local() bool { return p.listener.Addr().Network() == "unix" }

// URL returns the base URL of the port, or the address of a Unix socket.
func (p *Port) URL() string {
	if p.local() {
		return unixPrefix + p.Addr()
	}
	if _, encrypted := p.listener.(*certs.Listener); encrypted {
		return "https://" + p.Addr()
	}
	return "http://" + p.Addr()
}

// Run serves until ctx is done.
func (p *Port) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		if err := p.server.Close(); err != nil {
			p.opts.Log.Warn("closing the admin port", "error", err)
		}
	})
	defer stop()
	if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin port: %w", err)
	}
	return nil
}

// Close closes a port, even if Run was never called.
func (p *Port) Close() error { return p.listener.Close() }

func serveHealth(check Health, notes func() []string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		detail, err := check()
		status, answer := http.StatusOK, map[string]any{"ok": err == nil, "partitions": detail}
		if err != nil {
			status, answer["reason"] = http.StatusServiceUnavailable, err.Error()
		}
		if all := notes(); len(all) > 0 {
			answer["notes"] = all
		}
		WriteJSON(w, status, answer)
	}
}

// WriteJSON answers a request with v.
func WriteJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // an error means that the client is gone
}
