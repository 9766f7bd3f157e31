package serve

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"brine/internal/guard"
	"brine/query"
	"brine/serve/live"
)

// Timeouts of connections, and limits of requests.
const (
	headerTimeout = 5 * time.Second
	bodyTimeout   = 10 * time.Second
	readSlack     = 10 * time.Second // to read an answer, in addition to Options.Timeout
	idleTimeout   = 90 * time.Second
	maxHeader     = 64 << 10
	maxURI        = 16 << 10
	maxBody       = 1 << 20
)

// Server serves the API on a listener.
type Server struct {
	opts     Options
	listener net.Listener
	server   *http.Server
	mux      *http.ServeMux
	names    guard.Names
	routes   []*endpoint
	asides   map[string]bool // patterns that only refuse
	conns    *guard.Connections
	places   *places
	sql      chan struct{} // places of statements that read
	unsent   unsent        // answers to statements
	bodies   bodies        // of requests
	hub      *live.Hub     // of event streams
	streams  *streams
	cache    *cache
	answer   http.Handler // the mux, with compression
	ops      bool         // it is the operators' listener
	public   rates        // of readers of public rows
	origin   http.CrossOriginProtection
}

// New returns a server that serves on l, which it owns from then on. It serves nothing before Run.
func New(l net.Listener, opts Options) (*Server, error) { return newServer(l, opts, false) }

// NewOps returns the operators' server on l, with routes that users do not have. Without Accounts it has only those of Operations that
// change nothing.
func NewOps(l net.Listener, opts Options) (*Server, error) {
	if opts.Accounts == nil && opts.Operations == nil {
		return nil, errors.New("serve: Options.Accounts and Options.Operations: operators need both")
	}
	return newServer(l, opts, true)
}

func newServer(l net.Listener, opts Options, ops bool) (*Server, error) {
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	own, _, _ := net.SplitHostPort(opts.Listen)
	s := &Server{
		ops: ops, public: rates{perSecond: opts.PerSecond},
		opts: opts, listener: l, mux: http.NewServeMux(), names: guard.Names{Own: own, More: opts.Hosts},
		places: newPlaces(opts.InFlight, opts.Unread), sql: make(chan struct{}, opts.SQL.InFlight), hub: live.New(opts.watching()),
		unsent: unsent{limit: opts.SQL.Unsent}, bodies: bodies{limit: int64(opts.InFlight) * maxBody},
		cache: newCache(opts.Cache), streams: newStreams(opts.Log), asides: map[string]bool{}, conns: guard.NewConnections(opts.Connections),
	}
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1<<10), gzhttp.EnableZstd(true), gzhttp.ContentTypes([]string{
		"application/json", "application/x-ndjson", "application/problem+json", "text/html"}))
	if err != nil {
		return nil, err
	}
	if opts.Accounts != nil {
		s.streams.most = maxBearer // otherwise all callers are on one machine
	}
	if err := s.register(); err != nil {
		return nil, err
	}
	s.answer = compress(s.mux)
	s.server = &http.Server{
		Handler: s, ConnState: s.conns.Changed, ConnContext: s.conns.Context, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: opts.Timeout + readSlack, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(opts.Log.With("port", "serve").Handler(), slog.LevelWarn),
	}
	s.server.RegisterOnShutdown(s.hub.Close) // streams then end by themselves, and Shutdown waits for them
	return s, nil
}

// URL returns the base URL of the routes.
func (s *Server) URL() string {
	return map[bool]string{true: "https://", false: "http://"}[s.opts.Encrypted] + s.Addr()
}

// Addr returns the address that the server listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Run serves until ctx is done, and then until the running requests are answered.
func (s *Server) Run(ctx context.Context) error {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		within, cancel := context.WithTimeout(context.Background(), s.opts.Timeout+time.Second) // a longer statement is cut off
		defer cancel()
		if err := s.server.Shutdown(within); err != nil {
			s.opts.Log.Warn("requests were cut off at shutdown", "error", err)
			_ = s.server.Close() // the remaining clients read too slowly
		}
		s.streams.wait(within)
	})
	err := s.server.Serve(s.listener)
	if !stop() {
		<-ended
	}
	s.hub.Close()
	s.streams.wait(context.Background()) // if there was no Shutdown
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve.listen: %w", err)
	}
	return nil
}

// Close closes a server, even if Run was never called.
func (s *Server) Close() error {
	s.hub.Close()
	return s.listener.Close()
}

// register fills the mux from the table of routes.
func (s *Server) register() error {
	s.routes = s.table()
	if s.ops {
		s.routes = s.opsTable()
	}
	pages, err := s.pages()
	if err != nil {
		return err
	}
	s.routes = append(s.routes, pages...)
	for _, e := range s.routes {
		s.mux.Handle(e.method+" "+e.path, s.handler(e))
		if pattern := http.MethodGet + " " + e.path; e.aside {
			s.asides[pattern] = true
			s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, s.unknown(w, r)) })
		}
	}
	if err := s.console(); err != nil {
		return err
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, s.unknown(w, r)) })
	return nil
}

// unknown returns the error for a request without a route.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		other := *r
		other.Method = method
		if _, pattern := s.mux.Handler(&other); pattern != "/" && pattern != "" && !s.asides[pattern] {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return refuse(badMethod, r.Method+" is not for this route; it accepts "+strings.Join(allowed, ", "))
	}
	return refuse(notThere, "there is no such route; GET "+viewsPath+" lists the views, and "+openAPIPath+" has all routes")
}

// everywhere are the headers of every answer, unless its route sets others. Answers share the values, so nothing may be added to one.
var everywhere = http.Header{
	"X-Content-Type-Options":       {"nosniff"},
	"Cache-Control":                {"no-store"}, // rows belong to somebody
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
}

// ServeHTTP answers a request, or refuses it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	if r.Body == http.NoBody {
		s.conns.Begun(r.Context())
	}
	rec := &recorder{ResponseWriter: w}
	r.Header.Set(requestHeader, cleanID(r.Header.Get(requestHeader)))
	h := w.Header()
	maps.Copy(h, everywhere)
	h.Set(requestHeader, requestID(r))
	if err := s.admit(r); err != nil {
		s.fail(rec, r, err)
	} else {
		s.answer.ServeHTTP(rec, r)
	}
	s.opts.Hooks.Answered(AnsweredInfo{Route: strings.TrimSuffix(route(r), "/{$}"), Status: rec.status(), Took: time.Since(began)})
}

// admit refuses requests that are not served, whatever their route.
func (s *Server) admit(r *http.Request) error {
	escaped := r.URL.EscapedPath()
	switch by := guard.Forwarded(r); {
	case !s.names.Known(r.Host):
		return refuse(otherHost, "brine does not answer to this host name: add it to serve.hosts")
	case by != "" && !s.trusted(peerOf(r)):
		return refuse(wasForwarded, "the header "+by+" says that this was forwarded, but the sender is not one of serve.trusted_proxies")
	case s.behindProxies() && !s.trusted(peerOf(r)) && !peerOf(r).IsLoopback():
		return refuse(wasForwarded,
			"brine answers only the proxies in serve.trusted_proxies here: without TLS, others would send passwords in plain text")
	case strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "http"):
		return refuse(wasForwarded, "the proxy received this in plain text; use https")
	case s.origin.Check(r) != nil:
		return refuse(crossSite, "according to the browser, another site's page sent this")
	case len(r.RequestURI) > maxURI:
		return refuse(tooLong, "path and query are longer than 16 KiB")
	case path.Clean(escaped) != strings.TrimSuffix(escaped, "/") && escaped != "/":
		return refuse(notThere, "a path must not have empty parts or dots as parts")
	}
	return nil
}

// behindProxies reports whether the listener is only for proxies.
func (s *Server) behindProxies() bool { return !s.opts.Encrypted && len(s.opts.Proxies) > 0 }

// handler returns the handler of a route, which does what all routes have in common.
func (s *Server) handler(e *endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if e.free && s.opts.Accounts == nil { // prepared: it costs nothing
			_ = e.handle(&call{Server: s, w: w, r: r})
			return
		}
		c := &call{Server: s, endpoint: e, w: w, r: r, answer: recorderOf(w)}
		if e.body != nil {
			defer c.receive()()
		} else if r.Body != http.NoBody { // otherwise it has begun
			s.conns.Begun(r.Context()) // nobody reads its body
		}
		if !errors.Is(c.unread, errCrowded) {
			c.at = s.places.take(r.Context(), c)
		}
		if c.at == nil {
			s.opts.Hooks.Shed()
			s.fail(w, r, refuse(overloaded, "too many requests are in progress"))
			return
		}
		s.opts.Hooks.Begun()
		defer c.leave()
		within := cmp.Or(e.within, s.opts.Timeout)
		if e.within > 0 || e.body != nil { // the common deadlines count from before the body
			to := http.NewResponseController(w)
			_ = to.SetReadDeadline(time.Now().Add(within + bodyTimeout)) // a connection that cannot change its deadline keeps the common one
			_ = to.SetWriteDeadline(time.Now().Add(within + readSlack))
		}
		ctx, cancel := context.WithTimeout(r.Context(), within)
		defer cancel()
		s.work(ctx, c)
	}
}

// work runs a route's handler, and turns a panic into the route's error.
func (s *Server) work(ctx context.Context, c *call) {
	e, w, r := c.endpoint, c.w, c.r
	answered := func(error) {}
	if s.opts.Question != nil {
		ctx, answered = s.opts.Question(ctx, r.Header.Get("Traceparent"), e.id)
	}
	var err error
	defer func() {
		if p := recover(); p != nil {
			s.opts.Log.Error("BUG: a route panicked", "request", requestID(r), "route", e.path, "panic", p, "stack", string(debug.Stack()))
			err = refuse(internal, "internal error in brine; see its log")
		}
		answered(query.MaskedError(err, s.opts.Masks))
		if err != nil {
			s.fail(w, r, err)
		}
	}()
	c.ctx = ctx
	c.address, c.network = s.from(r)
	if err = c.identify(); err != nil {
		return
	}
	if !e.free {
		err = c.negotiate()
	}
	if err != nil {
		return
	}
	if c.scope = c.may(c.id, e.role, e.on); c.scope.open { // only the parameters that the caller may use
		c.values, err = c.query()
	}
	if err == nil {
		err = c.permit()
	}
	if err == nil {
		err = c.await()
	}
	if err == nil {
		err = c.answered()
	}
}

// recorder records the status of an answer, and since when a write has been waiting for the client to read.
type recorder struct {
	http.ResponseWriter
	code    int
	writing atomic.Int64 // uptime when the write in progress began; 0: none
}

// recorderOf returns the recorder below the compressing writer.
func recorderOf(w http.ResponseWriter) *recorder {
	for {
		if r, ok := w.(*recorder); ok {
			return r
		}
		w = w.(interface{ Unwrap() http.ResponseWriter }).Unwrap() // as all writers above it do
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.writing.Store(int64(uptime()))
	defer r.writing.Store(0)
	return r.ResponseWriter.Write(b)
}

func (r *recorder) WriteHeader(code int) {
	r.code = code
	r.ResponseWriter.WriteHeader(code)
}

// Unwrap implements http.ResponseController's unwrapping.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Hijack passes the connection to the compressing writer.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(r.ResponseWriter).Hijack()
}

// Flush implements http.Flusher, for handlers that look for it.
func (r *recorder) Flush() {
	if f, ok := r.ResponseWriter.(http.Flusher); ok {
		r.writing.Store(int64(uptime()))
		defer r.writing.Store(0)
		f.Flush()
	}
}

func (r *recorder) status() int {
	if r.code == 0 {
		return http.StatusOK
	}
	return r.code
}

// Paths returns the methods and paths of all routes.
func (s *Server) Paths() []string {
	var out []string
	for _, e := range s.routes {
		out = append(out, e.method+" "+e.path)
	}
	return slices.Sorted(slices.Values(out))
}
