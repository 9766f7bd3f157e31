package admin

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
)

const token = "0123456789abcdef"

func fine() (any, error) { return nil, nil }

// open returns a port with a private path.
func open(t *testing.T, listen string, opts Options) *Port {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if opts.Metrics == nil {
		opts.Metrics = prometheus.NewRegistry()
	}
	opts.Healthy, opts.Ready = fine, fine
	p := New(l, listen, opts)
	p.Handle("GET /debug/skew", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { WriteJSON(w, http.StatusOK, "names of customers") }))
	t.Cleanup(func() { p.Close() })
	return p
}

// get sends a request as if from a remote address.
func get(p *Port, path, host, remote string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Host, r.RemoteAddr = host, remote
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.server.Handler.ServeHTTP(w, r)
	return w
}

func TestStrangersAreServedMetricsAndHealthOnly(t *testing.T) {
	const here, away = "127.0.0.1:1", "10.0.0.7:1"
	withToken := open(t, "0.0.0.0:8765", Options{Token: token, Pprof: true})
	without := open(t, "0.0.0.0:8765", Options{Pprof: true})
	for _, c := range []struct {
		remote        string
		header        []string
		with, without int // status with a token configured, and without
	}{
		{away, nil, 401, 403},
		{here, nil, 401, 200},
		{"[::1]:1", nil, 401, 200},
		{"[::ffff:127.0.0.1]:1", nil, 401, 200},
		{here, []string{"Authorization", "Bearer " + token}, 200, 200},
		{"", nil, 401, 403},
		{here, []string{"X-Forwarded-For", "10.0.0.7"}, 401, 403},
		{here, []string{"Forwarded", "for=10.0.0.7"}, 401, 403},
		{away, []string{"X-Forwarded-For", "127.0.0.1"}, 401, 403},
		{away, []string{"Authorization", "Bearer " + token}, 200, 403},
		{away, []string{"Authorization", "Bearer " + token + "0"}, 401, 403},
		{away, []string{"Authorization", "Bearer " + token[:15]}, 401, 403},
		{away, []string{"Authorization", "Bearer "}, 401, 403},
		{away, []string{"Authorization", token}, 401, 403},
		{here, []string{"Authorization", "Bearer wrong"}, 401, 200},
	} {
		for _, path := range []string{"/debug/skew", "/debug/pprof/", "/debug/pprof/cmdline?x=/metrics"} {
			for p, want := range map[*Port]int{withToken: c.with, without: c.without} {
				w := get(p, path, "10.0.0.9:8765", c.remote, c.header...)
				if w.Code != want && (want != 200 || w.Code != 404) {
					t.Errorf("%s from %q with %q: %d, want %d", path, c.remote, c.header, w.Code, want)
				}
				if strings.Contains(w.Body.String(), token) {
					t.Errorf("prints the token: %s", w.Body)
				}
			}
		}
		for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
			if w := get(without, path, "10.0.0.9:8765", c.remote, c.header...); w.Code != 200 {
				t.Errorf("%s from %q: %d", path, c.remote, w.Code)
			}
		}
	}
	for _, path := range []string{"/metrics/../debug/skew", "//debug/skew", "/debug/%73kew", "/metrics/", "/"} {
		if w := get(without, path, "10.0.0.9", away); w.Code != 403 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestRequestsByAnotherNameAreRefused(t *testing.T) {
	names := Options{Hosts: []string{"brine.example.com", "*.inside.example.com"}}
	p := open(t, "Brine-0:8765", names)
	names.Token = token
	withToken := open(t, "Brine-0:8765", names)
	for host, want := range map[string]int{
		"127.0.0.1:8765": 200, "[::1]:8765": 200, "10.0.0.9": 200, "localhost:8765": 200, "LOCALHOST": 200, "x.localhost:1": 200, "localhost.": 200, "": 200,
		"brine-0:8765": 200, "brine.example.com": 200, "BRINE.example.com:80": 200, "a.inside.example.com": 200, "a.b.inside.example.com": 200,
		"evil.example.com": 421, "brine.example.com.evil.com": 421, "inside.example.com": 421, "xinside.example.com": 421, "notlocalhost": 421, "localhost.evil.com": 421,
		"127.0.0.1.evil.com": 421, "evil.com\x1b[2J": 421,
	} {
		for _, path := range []string{"/metrics", "/debug/skew"} {
			w := get(p, path, host, "127.0.0.1:1")
			if w.Code != want {
				t.Errorf("%s by the name %q: %d, want %d", path, host, w.Code, want)
			}
			if strings.ContainsRune(w.Body.String(), 0x1b) {
				t.Errorf("%q", w.Body)
			}
		}
		if w := get(withToken, "/metrics", host, "127.0.0.1:1"); w.Code != want {
			t.Errorf("without the token, by the name %q: %d, want %d", host, w.Code, want)
		}
		if w := get(withToken, "/debug/skew", host, "10.0.0.7:1", "Authorization", "Bearer "+token); w.Code != 200 {
			t.Errorf("with the token, by the name %q: %d", host, w.Code)
		}
	}
}

// FuzzStrangersGetNoFurther checks that, whatever a stranger sends, only metrics and health are served without the token.
func FuzzStrangersGetNoFurther(f *testing.F) {
	f.Add("/debug/skew", "localhost", "10.0.0.7:1", "Bearer "+token, "")
	f.Add("/metrics/../debug/skew", "10.0.0.9:8765", "[::ffff:10.0.0.7]:1", "Bearer", "127.0.0.1")
	f.Add("/debug%2fskew", "[::1%25lo]", "127.0.0.1.evil:1", "bearer x", "for=127.0.0.1")
	f.Fuzz(func(t *testing.T, path, host, remote, authorization, forwarded string) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p := New(l, "127.0.0.1:0", Options{Metrics: prometheus.NewRegistry(), Healthy: fine, Ready: fine, Token: token})
		defer p.Close()
		served := false
		p.Handle("GET /debug/skew", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true }))
		r := &http.Request{Method: "GET", Host: host, RemoteAddr: remote, URL: &url.URL{Path: path}, Header: http.Header{}}
		r.Header.Set("Authorization", authorization)
		r.Header.Set("X-Forwarded-For", forwarded)
		p.server.Handler.ServeHTTP(httptest.NewRecorder(), r)
		if served && authorization != "Bearer "+token {
			t.Errorf("%q is served to %q by the name %q", path, remote, host)
		}
	})
}

// TestProfilesAreOnTheAdminPortOnlyAndOnlyIfAskedFor checks that profiles are served only if configured, and only on this port: importing
// net/http/pprof also registers them on http.DefaultServeMux, which must not be served.
func TestProfilesAreOnTheAdminPortOnlyAndOnlyIfAskedFor(t *testing.T) {
	on, off := open(t, "127.0.0.1:0", Options{Pprof: true}), open(t, "127.0.0.1:0", Options{})
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine", "/debug/pprof/heap"} {
		if w := get(on, path, "localhost", "127.0.0.1:1"); w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("GET %s: %d", path, w.Code)
		}
		if w := get(off, path, "localhost", "127.0.0.1:1"); w.Code != http.StatusNotFound {
			t.Errorf("GET %s, not asked for: %d", path, w.Code)
		}
	}
	serves := regexp.MustCompile(`(?:^|[^.\w])http\.(?:DefaultServeMux|(?:ListenAndServe|Serve|ListenAndServeTLS)\(|Server\{\})`)
	profiles := 0
	for _, pattern := range []string{"../../*/*.go", "../../*/*/*.go", "../../*/*/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := serves.Find(text); found != nil {
				t.Errorf("%s: %s may serve the profiles", file, found)
			}
			if regexp.MustCompile(`"net/http/pprof"`).Match(text) {
				profiles++
			}
		}
	}
	if profiles != 1 {
		t.Errorf("%d files import net/http/pprof, want the admin port's only", profiles)
	}
}

// counted is a listener that counts accepted and open connections.
type counted struct {
	net.Listener
	mu         sync.Mutex
	open, most int
}

type countedConn struct {
	net.Conn
	of   *counted
	once sync.Once
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	l.most = max(l.most, l.open)
	return &countedConn{Conn: c, of: l}, nil
}

func (c *countedConn) Close() error {
	c.once.Do(func() {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.open--
	})
	return c.Conn.Close()
}

// serving runs a port on a counted listener until the test ends.
func serving(t *testing.T, metrics *prometheus.Registry) (*Port, *counted) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Listener: l}
	p := New(c, "127.0.0.1:0", Options{Metrics: metrics, Healthy: fine, Ready: fine})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return p, c
}

// served requests a path on a new connection, and fails the test unless the answer is complete.
func served(t *testing.T, p *Port, path string) int {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: transport}).Get("http://" + p.Addr() + path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
	}
	return len(body)
}

// allowed is the most connections that may be open at a time, so that a process with 128 descriptors has room for its own.
const allowed = 40

// TestIdleConnectionsMakeRoom checks that 300 clients that keep idle connections take few descriptors, and keep nobody out.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	p, l := serving(t, prometheus.NewRegistry())
	for i := range 300 {
		c, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%3 == 0 { // some never send a request
			continue
		}
		fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, " 200 ") {
			t.Fatalf("client %d: %q, %v", i, line, err)
		}
	}
	served(t, p, "/healthz")
	if l.mu.Lock(); l.most > allowed {
		t.Errorf("%d connections were open at a time", l.most)
	}
	l.mu.Unlock()
}

// much is a metric of a few megabytes, more than socket buffers hold.
type much struct{}

func (much) Describe(chan<- *prometheus.Desc) {}

func (much) Collect(to chan<- prometheus.Metric) {
	for i := range 20_000 {
		desc := prometheus.NewDesc("brine_much", "Much.", nil, prometheus.Labels{"a": fmt.Sprintf("%0200d", i)})
		to <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, 1)
	}
}

// TestUnreadAnswersMakeRoom checks that 200 clients that request the metrics and never read them do not keep others from reading them, and
// hold few descriptors.
func TestUnreadAnswersMakeRoom(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(much{})
	p, l := serving(t, registry)
	for range 200 {
		c, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	served(t, p, "/healthz")
	if n := served(t, p, "/metrics"); n < 1<<20 {
		t.Errorf("the metrics are %d bytes, which a socket's buffers may hold", n)
	}
	if l.mu.Lock(); l.most > allowed {
		t.Errorf("%d connections were open at a time", l.most)
	}
	l.mu.Unlock()
}

// TestScrapesAreMadeOneAtATimeAndShared checks that concurrent requests for metrics make one scrape at a time, and that requests for the
// same form share it.
func TestScrapesAreMadeOneAtATimeAndShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most, made := 0, 0, 0
		release := make(chan struct{})
		s := newScrapes(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			now++
			made++
			most = max(most, now)
			mu.Unlock()
			<-release
			mu.Lock()
			defer mu.Unlock()
			now--
			w.Header().Set("Content-Type", r.Header.Get("Accept"))
			fmt.Fprintf(w, "scrape %d %s", made, r.URL.RawQuery)
		}))
		answers := make([]*httptest.ResponseRecorder, 200)
		ctx, cancel := context.WithCancel(t.Context())
		var gone, rest sync.WaitGroup
		for i := range answers {
			answers[i] = httptest.NewRecorder()
			r := httptest.NewRequest("GET", "/metrics", nil)
			r.Header.Set("Accept", "text/plain")
			wait := &rest
			if i%2 == 0 {
				r, wait = r.WithContext(ctx), &gone
			}
			wait.Go(func() { s.ServeHTTP(answers[i], r) })
		}
		synctest.Wait()
		cancel() // half of the clients leave, including the first
		gone.Wait()
		release <- struct{}{}
		rest.Wait()
		for i, a := range answers {
			want := "scrape 1 "
			if i%2 == 0 {
				want = ""
			}
			if a.Body.String() != want || want != "" && a.Header().Get("Content-Type") != "text/plain" {
				t.Fatalf("client %d: %q, %v", i, a.Body, a.Header())
			}
		}
		close(release)
		var others sync.WaitGroup
		for i := range 5 {
			others.Go(func() {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest("GET", fmt.Sprintf("/metrics?name[]=%d", i), nil))
				if !strings.HasSuffix(w.Body.String(), fmt.Sprintf("name[]=%d", i)) {
					t.Errorf("%q", w.Body)
				}
			})
		}
		others.Wait()
		if made != 6 || most != 1 || len(s.pending) != 0 {
			t.Errorf("%d scrapes, %d at a time, %d pending", made, most, len(s.pending))
		}
	})
}

// TestEveryWaitOfTheServerEnds checks that the server has timeouts for slow requests and slow readers.
func TestEveryWaitOfTheServerEnds(t *testing.T) {
	s := open(t, "127.0.0.1:0", Options{}).server
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 {
		t.Errorf("%+v", s)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
