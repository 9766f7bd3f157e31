package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/serve"
	"brine/serve/client"
)

// everyRoute calls do with the method and path of each route, including the pages.
func everyRoute(t *testing.T, s *shop, do func(method, path string)) {
	t.Helper()
	routes := append(s.Paths(), "GET /api/v1/docs", "GET /nothing")
	if len(routes) < 20 {
		t.Fatalf("there are only %d routes", len(routes))
	}
	for _, route := range routes {
		method, path, _ := strings.Cut(route, " ")
		do(method, strings.ReplaceAll(path, "{key}", "k"))
	}
}

// TestEveryGuardIsOnEveryRoute tries each guard on every route, because a guard that misses one route is useless.
func TestEveryGuardIsOnEveryRoute(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.Hosts = []string{"orders.localdomain", "*.brine.test"} })
	everyRoute(t, s, func(method, path string) {
		for _, c := range []struct {
			name, value string
			status      int // 0: passes
		}{
			{"Host", "evil.example", 421}, {"Host", "127.0.0.1.evil.example", 421}, {"Host", "10.0.0.7:8090", 421}, {"Host", "", 421},
			{"Host", "xbrine.test", 421}, {"Host", "localhost.evil.example:8090", 421},
			{"Host", "localhost:1", 0}, {"Host", "[::1]:8090", 0}, {"Host", "ORDERS.localdomain.", 0}, {"Host", "a.brine.test", 0},
			{"Forwarded", "for=127.0.0.1", 403}, {"X-Forwarded-For", "127.0.0.1", 403}, {"X-Forwarded-Host", "localhost", 403}, {"Via", "1.1 a", 403},
			{"X-Forwarded-User", "root", 403},
		} {
			w := s.ask(method, path, "", c.name, c.value)
			if c.status != 0 && w.Code != c.status || c.status == 0 && (w.Code == 421 || strings.Contains(w.Body.String(), "#forwarded")) {
				t.Errorf("%s %s with %s: %s: %d, want %d", method, path, c.name, c.value, w.Code, c.status)
			}
		}
	})
	if w := s.ask("GET", timeline, "", "X-Forwarded-For", ""); w.Code != 200 {
		t.Errorf("an empty header forwards nothing: %d", w.Code)
	}
}

// TestNoRouteTakesAHostOrAPath checks that nothing named in a request is dialed: a recording dialer must see only the configured address.
func TestNoRouteTakesAHostOrAPath(t *testing.T) {
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var mu sync.Mutex
	dialled := map[string]bool{}
	rows, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + server.Addr(), Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		mu.Lock()
		dialled[addr] = true
		mu.Unlock()
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if err := rows.CreateNamespace(t.Context(), "centre"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"orders", "order_ids", "scans"} {
		families := []hbase.Family{{Name: "brief"}, {Name: "detail"}, {Name: "i"}, {Name: "e"}}
		if err := rows.CreateTable(t.Context(), hbase.Table{Name: "centre:" + name, Families: families}, nil); err != nil {
			t.Fatal(err)
		}
	}
	s := newShop(t, func(o *serve.Options) { o.Rows = rows })
	const elsewhere = "http://10.9.8.7:1/etc/passwd"
	everyRoute(t, s, func(method, path string) {
		for _, name := range []string{"waybill", "user", "order", "status", "station", "host", "url", "path", "connect"} {
			s.ask(method, strings.ReplaceAll(path, "/k", "/"+url.PathEscape(elsewhere))+"?"+name+"="+url.QueryEscape(elsewhere), `{"keys": ["`+elsewhere+`"]}`, "Content-Type", jsonBody)
		}
	})
	if len(dialled) != 1 || !dialled[server.Addr()] {
		t.Errorf("dialled were %v, configured is %s", dialled, server.Addr())
	}
	doc, err := s.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range parameters(t, doc) {
		if slices.Contains([]string{"host", "url", "uri", "path", "file", "addr", "address", "connect", "doAs", "user.name"}, name) {
			t.Errorf("a route takes %q", name)
		}
	}
}

// parameters returns the names of all parameters of a document.
func parameters(t *testing.T, doc []byte) (names []string) {
	t.Helper()
	var d struct {
		Paths map[string]map[string]struct{ Parameters []struct{ Name string } }
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	for _, methods := range d.Paths {
		for _, o := range methods {
			for _, p := range o.Parameters {
				names = append(names, p.Name)
			}
		}
	}
	if len(names) < 20 {
		t.Fatalf("the document has only %d parameters", len(names))
	}
	return names
}

func TestBeyondLoopbackIsRefused(t *testing.T) {
	for addr, ok := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "localhost:0": true, "127.8.9.1:1": true, "[::ffff:127.0.0.1]:1": true,
		":8090": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.7:1": false, "localhost.evil:1": false, "127.0.0.1": false, "": false} {
		if serve.Loopback(addr) != ok {
			t.Errorf("%q is loopback: %v", addr, !ok)
		}
	}
	o := serve.Options{Listen: "0.0.0.0:8090", Rows: &store{}}
	o.EnsureDefaults()
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "outside loopback the API needs accounts") {
		t.Errorf("the error is %v", err)
	}
}

func TestNoPathLeadsElsewhere(t *testing.T) {
	s := newShop(t, nil)
	for _, path := range []string{"/api/v1/../../etc/passwd", "/api/v1/%2e%2e/%2e%2e/etc/passwd", "/api/v1/docs/..%5c..%5cetc", "/api/v1//views", "//etc/passwd",
		"/api/v1/./views", "/api/v1/docs/%2e%2e%2fviews", "/api/v1/views/../views", "/api/v1/views/%2e%2e", "/api/v1/docs%2f..", "/..", "/api/v1/views/"} {
		if w := s.ask("GET", path, ""); w.Code != 404 {
			t.Errorf("GET %s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestNobodyIsNamedByARequest checks that no header and no parameter names the caller.
func TestNobodyIsNamedByARequest(t *testing.T) {
	s := newShop(t, nil)
	plain := s.ask("GET", timeline, "").Body.String()
	for _, name := range []string{"doAs", "user.name", "user", "owner", "account", "role"} {
		if w := s.ask("GET", timeline+"&"+name+"=root", ""); w.Code != 400 {
			t.Errorf("?%s=root: %d %s", name, w.Code, w.Body)
		}
		if w := s.ask("GET", timeline, "", name, "root"); w.Body.String() != plain {
			t.Errorf("%s: root changes the answer: %s", name, w.Body)
		}
	}
	for _, name := range []string{"Authorization", "X-Remote-User", "Remote-User", "Cookie"} {
		if w := s.ask("GET", timeline, "", name, "root"); w.Body.String() != plain {
			t.Errorf("%s: root changes the answer: %s", name, w.Body)
		}
	}
}

// TestScriptsInDataAreNoScripts checks that text from rows and callers is data: no answer that contains it is a page, and the page contains
// none of it.
func TestScriptsInDataAreNoScripts(t *testing.T) {
	s := newShop(t, nil)
	const script = "<img onerror=alert(1)>"
	for _, target := range []string{timeline, timeline + "&" + url.QueryEscape(script) + "=1", timeline + "&at=" + url.QueryEscape(script),
		"/api/v1/tables/centre:scans/rows/" + url.PathEscape(script), "/api/v1/" + url.PathEscape(script), "/api/v1/docs?" + url.QueryEscape(script)} {
		w := s.ask("GET", target, "", "X-Request-Id", script)
		form, page := w.Header().Get("Content-Type"), strings.HasPrefix(target, "/api/v1/docs")
		if page && (strings.Contains(w.Body.String(), script) || strings.Contains(w.Body.String(), "<script")) || !page && !strings.HasSuffix(form, "json") {
			t.Errorf("%s: as %s, %s", target, form, w.Body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", target, w.Header())
		}
	}
}

// TestSlowClientsMakeRoom checks that clients that never finish their headers, or read nothing, keep nobody out, however many there are.
func TestSlowClientsMakeRoom(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.Connections = 16 })
	s.run()
	for i := range 100 {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		switch i % 3 {
		case 0: // sends nothing
		case 1:
			fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nX-A: ", timeline)
		case 2:
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", batch)
		}
	}
	resp, err := http.Get(s.base + timeline)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body := text(t, resp.Body); resp.StatusCode != 200 {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// TestASlowBodyHoldsNoPlace: clients that sent their bodies slowly kept all places for up to ten seconds, and everybody else was refused.
func TestASlowBodyHoldsNoPlace(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.InFlight = 1 })
	keys, err := json.Marshal(client.Keys{Keys: []string{s.row}})
	if err != nil {
		t.Fatal(err)
	}
	body, sent := io.Pipe()
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		r := httptest.NewRequest(http.MethodPost, batch, body)
		r.Host = "localhost"
		r.Header.Set("Content-Type", jsonBody)
		s.ServeHTTP(w, r)
		body.Close() // what is not read is not sent
	}()
	if _, err := sent.Write(keys[:5]); err != nil { // returns when the server has read it
		t.Fatal(err)
	}
	if w := s.ask("GET", timeline, ""); w.Code != 200 {
		t.Errorf("while a body arrives: %d %s", w.Code, w.Body)
	}
	_, err = sent.Write(keys[5:])
	sent.CloseWithError(err)
	if <-done; w.Code != 200 || !strings.Contains(w.Body.String(), "DELIVER") {
		t.Errorf("the slow one: %d %s", w.Code, w.Body)
	}
}

// TestBodiesAreBoundedTogether: before a place was free for them, bodies of all connections could take 1 GiB.
func TestBodiesAreBoundedTogether(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.InFlight = 1 }) // room for 1 MiB
	post := func(body io.Reader) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(http.MethodPost, batch, body), httptest.NewRecorder()
		r.Host = "localhost"
		r.Header.Set("Content-Type", jsonBody)
		s.ServeHTTP(w, r)
		return w
	}
	large := func(n int) string { return fmt.Sprintf(`{"keys":[%q]%s}`, s.row, strings.Repeat(" ", n)) }
	body, sent := io.Pipe()
	done := make(chan *httptest.ResponseRecorder)
	go func() { done <- post(body) }()
	for _, part := range []string{large(700 << 10)[:700<<10], " "} { // the server reads the second when it has counted the first
		if _, err := io.WriteString(sent, part); err != nil {
			t.Fatal(err)
		}
	}
	if w := post(strings.NewReader(large(500 << 10))); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("beside 700 KiB, one of 500: %d %s", w.Code, w.Body)
	}
	if w := post(strings.NewReader(large(200 << 10))); w.Code != 200 {
		t.Errorf("beside 700 KiB, one of 200: %d %s", w.Code, w.Body)
	}
	sent.CloseWithError(io.ErrUnexpectedEOF)
	if w := <-done; w.Code != 400 {
		t.Errorf("the one that ended early: %d %s", w.Code, w.Body)
	}
	if w := post(strings.NewReader(large(500 << 10))); w.Code != 200 {
		t.Errorf("after it: %d %s", w.Code, w.Body)
	}
}

// pipe is the listener of one connection.
type pipe struct {
	conns  chan net.Conn
	closed func()
	end    <-chan struct{}
}

func newPipe(conn net.Conn) *pipe {
	ctx, cancel := context.WithCancel(context.Background())
	p := &pipe{conns: make(chan net.Conn, 1), closed: cancel, end: ctx.Done()}
	p.conns <- conn
	return p
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.end:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error {
	p.closed()
	return nil
}

func (p *pipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// TestASlowBodyShortensNothing checks that a route has its whole time, however long its body took: the connection's deadlines, which count
// from before the body, ended the request while a store was answering.
func TestASlowBodyShortensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, other := net.Pipe()
		defer conn.Close()
		s := newShopOn(t, newPipe(other), func(o *serve.Options) { o.Timeout = 8 * time.Second })
		s.run()
		keys, err := json.Marshal(client.Keys{Keys: []string{s.row}})
		if err != nil {
			t.Fatal(err)
		}
		s.late = 7 * time.Second
		go func() {
			_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
				batch, len(keys))
			time.Sleep(9 * time.Second) // of the 10 s in which a request must arrive
			_, _ = conn.Write(keys)
		}()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body := text(t, resp.Body); resp.StatusCode != 200 || !strings.Contains(body, "DELIVER") {
			t.Errorf("%s %s", resp.Status, body)
		}
	})
}

func TestHeadersAreBounded(t *testing.T) {
	s := newShop(t, nil)
	s.run()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() { // the server stops reading
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: "+strings.Repeat("x", 1<<20)+"\r\n\r\n")
	}()
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(line, " 431 ") {
		t.Errorf("%q, %v", line, err)
	}
}

// TestStopAnswersWhatWasAsked checks that requests received before the stop are answered completely.
func TestStopAnswersWhatWasAsked(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.Timeout = patience })
	begun, gate := make(chan struct{}), make(chan struct{})
	s.first, s.gate = begun, gate
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	answered := make(chan string, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Get("http://" + s.Addr() + timeline)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		answered <- fmt.Sprint(resp.Status, err, string(body))
	}()
	<-begun
	stop()
	for { // until no new client is accepted
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			break
		}
		c.Close()
	}
	close(gate)
	if got := <-answered; !strings.HasPrefix(got, "200 OK<nil>") || !strings.Contains(got, "next_page_token") {
		t.Error(got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
