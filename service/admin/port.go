// Package admin is a process's HTTP port for operators: metrics, health, what is known of its pipelines, and profiles.
//
// The invariant: however many clients there are, and however many of them read nothing, the port holds at most maxConnections connections,
// makes one scrape at a time, and answers a stranger only metrics and health. A stranger is any caller from beyond loopback without the
// token.
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

// A client that is slower than these is given up. A profile may take longer by the seconds that it was asked for.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 90 * time.Second // more than most spans between two scrapes
	maxHeader     = 16 << 10
)

// maxConnections is far more than probes, Prometheus and a few people need, and far less than the descriptors of a process.
const maxConnections = 32

// Health is one check: a nil error means healthy, detail is for people and machines either way.
type Health func() (detail any, err error)

// Options say what the port serves, and to whom.
type Options struct {
	Metrics *prometheus.Registry
	Healthy Health
	Ready   Health
	Notes   func() []string // what is worth a look beside the checks, and fails none of them; nil: nothing ever is
	Hosts   []string        // names that requests may call the port by, beside loopback's, its own and IP addresses; *.NAME is all below NAME
	Token   string          // who shows it is served everything; empty: nobody can
	Follow  func() string   // the token of the moment, where it may change; nil: Token
	Pprof   bool            // whether profiles are served
	Log     *slog.Logger    // what goes wrong with a connection; nil: slog's own
}

// Port serves at a listener.
type Port struct {
	listener net.Listener
	opts     Options
	names    guard.Names
	origin   http.CrossOriginProtection
	mux      *http.ServeMux
	server   *http.Server
}

// New makes a port at l, which it owns from then on. Nothing is served before Run. addr is what l was asked for.
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

// Handle adds a path, before Run. Strangers do not get there.
func (p *Port) Handle(pattern string, h http.Handler) { p.mux.Handle(pattern, h) }

// Addr is where the port listens.
func (p *Port) Addr() string { return p.listener.Addr().String() }

// local reports whether the port is a socket in the file system: who may connect is on this machine.
func (p *Port) local() bool { return p.listener.Addr().Network() == "unix" }

// URL is where the port's paths begin, or for a socket in the file system its address.
func (p *Port) URL() string {
	if p.local() {
		return unixPrefix + p.Addr()
	}
	if _, encrypted := p.listener.(*certs.Listener); encrypted {
		return "https://" + p.Addr()
	}
	return "http://" + p.Addr()
}

// Run serves until ctx ends.
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

// Close closes a port that may never have run.
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
	_ = enc.Encode(v) // the client is gone: nobody is left to tell
}
