package serve_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"

	"brine/account"
	"brine/hbase"
	"brine/query"
	"brine/serve"
	"brine/serve/client"
	"brine/serve/written"
)

const watched = "/api/v1/views/waybill/events?waybill=W1"

// stream opens an event stream, and returns its lines.
func (s *shop) stream(ctx context.Context, header ...string) *bufio.Reader {
	s.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+watched, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Content-Encoding") != "" {
		s.t.Fatalf("%s, %v", resp.Status, resp.Header)
	}
	return bufio.NewReader(resp.Body)
}

// nextEvent reads the next event, skipping comments.
func nextEvent(t *testing.T, r *bufio.Reader) (id, kind, data string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case name == "id":
			id = value
		case name == "event":
			kind = value
		case name == "data":
			data = value
		case name == "" && kind != "":
			return id, kind, data
		}
	}
}

// add writes one more scan of W1, while streams are reading.
func (s *shop) add(at, action string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scan(s.t, s.scans, "W1", at, action, "JFK")
}

// TestEventsFollowAView checks that the page is sent at once and again when a row arrives, but not to a client that already has it.
func TestEventsFollowAView(t *testing.T) {
	s := newShop(t, nil)
	s.run()
	r := s.stream(t.Context())
	first, kind, data := nextEvent(t, r)
	if kind != "page" || strings.Count(data, `"action":`) != 3 || !strings.Contains(data, "<img") {
		t.Errorf("%s: %s", kind, data)
	}
	s.add("2013-01-03T00:00:00Z", "ARRIVE")
	second, kind, data := nextEvent(t, r)
	if kind != "page" || second == first || strings.Count(data, `"action":`) != 4 {
		t.Errorf("%s: %s", kind, data)
	}
	again := s.stream(t.Context(), "Last-Event-ID", second)
	s.add("2013-01-04T00:00:00Z", "DELIVER")
	if third, _, data := nextEvent(t, again); third == second || strings.Count(data, `"action":`) != 5 {
		t.Errorf("who had the page was sent %s", data)
	}
}

// TestEventsSayAnOutage checks that the stream continues while a store is down, reports that once without the store's error, and sends the
// page when the store is back.
func TestEventsSayAnOutage(t *testing.T) {
	s := newShop(t, nil)
	s.run()
	r := s.stream(t.Context())
	first, _, _ := nextEvent(t, r)
	s.set(func() { s.fails = 1 })
	if _, kind, data := nextEvent(t, r); kind != "problem" || !strings.Contains(data, "docs#unavailable") || strings.Contains(data, "hunter2") {
		t.Errorf("%s: %s", kind, data)
	}
	s.set(func() { s.fails = 0 })
	if again, kind, _ := nextEvent(t, r); kind != "page" || again != first {
		t.Errorf("%s %s, expected the page %s again", kind, again, first)
	}
}

// broken panics once, while rows are read.
type broken struct {
	query.Client
	once sync.Once
}

func (b *broken) Scan(ctx context.Context, table string, scan hbase.Scan) iter.Seq2[hbase.Result, error] {
	b.once.Do(func() { panic("a fault of the store's client") })
	return b.Client.Scan(ctx, table, scan)
}

// TestAPanicEndsOneStream checks that a panic neither ends the process nor leaves a lock, and that a new connection is answered.
func TestAPanicEndsOneStream(t *testing.T) {
	var here written.Rows
	s := newShop(t, func(o *serve.Options) { o.Rows, o.Written = &broken{Client: o.Rows}, &here })
	s.run()
	if text, err := io.ReadAll(s.stream(t.Context())); err != nil || strings.Contains(string(text), "event:") {
		t.Errorf("%v, sent %s", err, text)
	}
	if _, kind, data := nextEvent(t, s.stream(t.Context())); kind != "page" || !strings.Contains(data, "<img") {
		t.Errorf("%s: %s", kind, data)
	}
}

func (s *shop) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// TestEventsAreRefusedAsQuestionsAre checks that errors are ordinary problems before the stream starts, and that only the first page can be
// watched.
func TestEventsAreRefusedAsQuestionsAre(t *testing.T) {
	s := newShop(t, nil)
	for target, want := range map[string]int{
		"/api/v1/views/waybill/events":                           400,
		watched + "&page_token=AQ":                               400,
		watched + "&nothing=1":                                   400,
		watched + "&page_size=-1":                                400,
		"/api/v1/views/nosuch/events?waybill=W1":                 404,
		"/api/v1/views/waybill/events?waybill=W1&at.from=whenly": 400,
	} {
		if w := s.ask("GET", target, ""); w.Code != want || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if w := s.ask("GET", watched, "", "Accept", "application/json"); w.Code != 406 {
		t.Errorf("as JSON: %d", w.Code)
	}
}

// TestEventStreamsAreBounded checks that one stream too many is refused, that streams take no place of requests, and that each frees its
// own at the end.
func TestEventStreamsAreBounded(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.Streams, o.InFlight = 2, 1 })
	s.run()
	one, cancel := context.WithCancel(t.Context())
	first := s.stream(one)
	nextEvent(t, s.stream(t.Context()))
	nextEvent(t, first)
	if resp := s.code(watched); resp != 503 {
		t.Errorf("a third stream: %d", resp)
	}
	if resp := s.code(timeline); resp != 200 {
		t.Errorf("a request beside streams: %d", resp)
	}
	cancel()
	for s.code(watched) == 503 {
		runtime.Gosched()
	}
}

// code returns the status of an answer, and leaves a stream at once.
func (s *shop) code(target string) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.base+target, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// TestStreamsEndWithTheServer checks that Run returns while a stream is open, and that the stream ends.
func TestStreamsEndWithTheServer(t *testing.T) {
	s := newShop(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	s.base = "http://" + s.Addr()
	defer http.DefaultClient.CloseIdleConnections()
	r := s.stream(t.Context())
	nextEvent(t, r)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(r); err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
}

// TestManyWatchersCostOneQuestion checks that a hundred clients get the page with one query to the store.
func TestManyWatchersCostOneQuestion(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	s := newShop(t, func(o *serve.Options) {
		o.Rows = countingScans{o.Rows, func() { mu.Lock(); asked++; mu.Unlock() }}
	})
	s.run()
	const n = 100
	readers := make([]*bufio.Reader, n)
	for i := range readers {
		readers[i] = s.stream(t.Context())
	}
	for _, r := range readers {
		nextEvent(t, r)
	}
	s.add("2013-01-03T00:00:00Z", "ARRIVE")
	mu.Lock()
	asked = 0
	mu.Unlock()
	for _, r := range readers {
		if _, _, data := nextEvent(t, r); strings.Count(data, `"action":`) != 4 {
			t.Fatal(data)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if asked >= n/2 { // on a busy machine reading them all may take seconds, with a query each
		t.Errorf("%d scans for %d streams", asked, n)
	}
}

type countingScans struct {
	query.Client
	scanned func()
}

func (c countingScans) Scan(ctx context.Context, table string, scan hbase.Scan) iter.Seq2[hbase.Result, error] {
	c.scanned()
	return c.Client.Scan(ctx, table, scan)
}

// TestClientWatches checks that Watch delivers pages, survives a server that goes away, and ends with a refusal or the error of see.
func TestClientWatches(t *testing.T) {
	s := newShop(t, nil)
	s.run()
	c := client.Client{Base: s.base}
	enough := errors.New("enough")
	n := 0
	err := c.Watch(t.Context(), "waybill", url.Values{"waybill": {"W1"}}, func(p client.Page, stale *client.Problem) error {
		if n++; stale != nil || len(p.Rows) != 2+n {
			t.Errorf("%d rows, %v", len(p.Rows), stale)
		}
		if n == 2 {
			return enough
		}
		s.add("2013-01-03T00:00:00Z", "ARRIVE")
		return nil
	})
	if !errors.Is(err, enough) {
		t.Error(err)
	}
	var refused *client.Problem
	if err := c.Watch(t.Context(), "waybill", nil, nil); !errors.As(err, &refused) || refused.Status != 400 {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := client.Client{Base: "http://127.0.0.1:1"}
	cancel()
	if err := gone.Watch(ctx, "waybill", nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAccountThatIsDisabledWatchesNoMore checks that its stream ends with the next change, which it does not get.
func TestAccountThatIsDisabledWatchesNoMore(t *testing.T) {
	g := newGuarded(t, nil)
	for _, c := range []struct {
		name string
		end  func() error
	}{
		{"u1", func() error {
			off := false
			_, err := g.accounts.Change(t.Context(), "u1", account.Change{Enabled: &off})
			return err
		}},
		{"u2", func() error {
			owner := "u3"
			_, err := g.accounts.Change(t.Context(), "u2", account.Change{Owner: &owner})
			return err
		}},
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/views/user-orders/events", http.NoBody)
		r.Host = "127.0.0.1:8090"
		r.Header.Set("Authorization", "Bearer "+g.tokens[c.name])
		w := &partial{first: make(chan struct{}), header: http.Header{}}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			g.ServeHTTP(w, r)
		}()
		<-w.first
		if err := c.end(); err != nil {
			t.Fatal(err)
		}
		g.order(t, c.name, "G-late-"+c.name)
		<-ended
		if text := w.String(); strings.Count(text, "event: page") != 1 || strings.Contains(text, "G-late") || !strings.Contains(text, "G-"+c.name) {
			t.Errorf("%s was sent %s", c.name, text)
		}
	}
}

// partial is an answer that is read while it is written.
type partial struct {
	mu     sync.Mutex
	text   strings.Builder
	header http.Header
	first  chan struct{} // closed by the first page
}

func (w *partial) Header() http.Header { return w.header }
func (w *partial) WriteHeader(int)     {}
func (w *partial) Flush()              {}

func (w *partial) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if was := w.text.String(); strings.Contains(string(b), "event: page") && !strings.Contains(was, "event: page") {
		close(w.first)
	}
	return w.text.Write(b)
}

func (w *partial) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
