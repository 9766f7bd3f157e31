package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/hbase"
	"brine/search"
	"brine/serve"
	"brine/serve/client"
)

var update = flag.Bool("update", false, "write the golden files again")

// TestAnswers checks the answers and refusals of each kind of route.
func TestAnswers(t *testing.T) {
	s := newShop(t, nil)
	many := `{"keys": [` + strings.TrimSuffix(strings.Repeat(`"a",`, 1001), ",") + `]}`
	lists := []string{"Content-Type", jsonBody}
	for _, c := range []struct {
		method, target, body string
		header               []string
		status               int
		want                 string // in the body
	}{
		{"GET", "/api/v1/views", "", nil, 200, `{"name":"at","type":"time","required":false,"range":true,"list":true}`},
		{"GET", timeline, "", nil, 200, `"next_page_token":""}`},
		{"GET", timeline + "&at.from=2013-01-01&at.to=2013-01-02", "", nil, 200, `"station":"MIA"`},
		{"GET", "/api/v1/views/waybill?waybill=none", "", nil, 200, `{"rows":[],"next_page_token":""}`},
		{"GET", timeline + "&page_size=99999999999999999999", "", nil, 200, `"next_page_token":""}`},
		{"HEAD", timeline, "", nil, 200, ""},
		{"GET", timeline, "", []string{"Accept", "text/html;q=0.8, application/json"}, 200, `"rows"`},
		{"GET", "/api/v1/tables/centre:scans/rows/" + url.PathEscape(s.row), "", nil, 200, `"version":9,`},
		{"GET", "/api/v1/tables/centre:scans/rows?waybill=W1&at=2013-01-01T10:00:00Z&action=ARRIVE", "", nil, 200, `"courier":"c1"`},
		{"POST", batch, `{"keys": ["none", "` + strings.ReplaceAll(s.row, `\`, `\\`) + `"]}`, lists, 200, `"missing":["none"]}`},
		{"POST", latest, `{"questions": [{"waybill": "W2"}, {"waybill": ["none"]}]}`, lists, 200, `{"rows":[],"next_page_token":""}]}`},
		{"GET", "/api/v1/openapi.json", "", nil, 200, `"openapi": "3.1.0"`},
		{"GET", "/api/v1/docs", "", []string{"Accept", "text/html"}, 200, `<h3 id="overloaded">`},

		{"GET", "/api/v1/views/waybill", "", nil, 400, `"location":"query.waybill","message":"is missing"`},
		{"GET", timeline + "&courier=c1", "", nil, 400, `"location":"query.courier"`},
		{"GET", timeline + "&waybill=W2", "", nil, 400, `"message":"is given twice"`},
		{"GET", timeline + "&at=soon", "", nil, 400, `"location":"query.at"`},
		{"GET", timeline + "&at=2013-01-01&at.from=2013-01-01", "", nil, 400, `has both a value and a range`},
		{"GET", timeline + "&at.from=", "", nil, 400, `"location":"query.at"`},
		{"GET", timeline + "&page_size=-1", "", nil, 400, `"location":"query.page_size"`},
		{"GET", timeline + "&page_size=x", "", nil, 400, `"location":"query.page_size"`},
		{"GET", timeline + "&page_token=x", "", nil, 400, `"location":"query.page_token"`},
		{"GET", timeline + "&%zz", "", nil, 400, `docs#invalid"`},
		{"GET", "/api/v1/views?x=1", "", nil, 400, `"location":"query.x"`},
		{"GET", "/api/v1/tables/centre:scans/rows?waybill=W1", "", nil, 400, `is missing`},
		{"GET", "/api/v1/tables/centre:scans/rows/a%5Cxzz", "", nil, 400, `"location":"path.key"`},
		{"GET", "/api/v1/tables/centre:scans/rows/none", "", nil, 404, `docs#not-found"`},
		{"GET", "/api/v1/views/nothing", "", nil, 404, `GET /api/v1/views lists the views`},
		{"GET", "/", "", nil, 404, `docs#not-found"`},
		{"POST", "/api/v1/views", "", nil, 405, `docs#method"`},
		{"DELETE", batch, "", nil, 405, `it accepts POST`},
		{"GET", timeline, "", []string{"Accept", "image/png"}, 406, `application/json or application/x-ndjson`},
		{"GET", timeline, "", []string{"Accept", "application/json;q=0"}, 406, ``},
		{"POST", batch, `{"keys": ["a"]}`, nil, 415, `docs#media-type"`},
		{"POST", batch, `{"keys": []}`, lists, 400, `"location":"body.keys"`},
		{"POST", batch, many, lists, 400, `are 1001, not between 1 and 1000`},
		{"POST", batch, `{"keys": [""]}`, lists, 400, `"location":"body.keys[0]"`},
		{"POST", batch, `{"keys": ["a"], "host": "b"}`, lists, 400, `"location":"body"`},
		{"POST", batch, `{"keys": ["a"]} x`, lists, 400, `"location":"body"`},
		{"POST", batch, strings.Repeat(" ", 1<<20+1), lists, 413, `docs#too-large"`},
		{"POST", latest, `{"questions": [{"waybill": "W1"}, {"at": "soon"}]}`, lists, 400, `"location":"body.questions[1].at"`},
		{"POST", latest, `{"questions": [{"waybill": "W1", "page_token": "x"}]}`, lists, 400, `"location":"body.questions[0].page_token"`},
		{"POST", latest, `{"questions": [{"waybill": null}]}`, lists, 400, `"location":"body.questions[0].waybill"`},
		{"POST", latest, `{"questions": [{"waybill": "W1"}, {"waybill": "W2"}], "page_size": 9000}`, lists, 400, `more than 10000 rows`},
		{"GET", timeline + "&x=" + strings.Repeat("x", 16<<10), "", nil, 414, `docs#uri-too-long"`},
	} {
		w := s.ask(c.method, c.target, c.body, c.header...)
		if body := w.Body.String(); w.Code != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %.100s %.60s: %d %s, want %d with %s", c.method, c.target, c.body, w.Code, body, c.status, c.want)
		}
		if form := w.Header().Get("Content-Type"); w.Code >= 400 && form != "application/problem+json" {
			t.Errorf("%s %.100s: %d as %q", c.method, c.target, w.Code, form)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Access-Control-Allow-Origin": ""} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %.100s: %s is %q", c.method, c.target, name, got)
			}
		}
	}
}

func TestPagesGoOnAndTokensAreChecked(t *testing.T) {
	s := newShop(t, nil)
	var page client.Page
	var stations []any
	token := ""
	for range 3 {
		w := s.ask("GET", timeline+"&page_size=1&page_token="+token, "")
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || len(page.Rows) != 1 {
			t.Fatalf("%v: %s", err, w.Body)
		}
		stations = append(stations, page.Rows[0].Fields["station"])
		token = page.Next
	}
	if want := []any{"<img onerror=alert(1)>", "MIA", "EWR"}; !slices.Equal(stations, want) {
		t.Errorf("pages have %v, want %v", stations, want)
	}
	for _, target := range []string{"/api/v1/views/waybill?waybill=W2", timeline + "&at.from=2013-01-01", "/api/v1/views/waybill-latest?waybill=W1"} {
		if w := s.ask("GET", target+"&page_token="+token, ""); w.Code != 400 || !strings.Contains(w.Body.String(), "query.page_token") {
			t.Errorf("%s with the token of another question: %d %s", target, w.Code, w.Body)
		}
	}
	for i := range token {
		changed := token[:i] + string(token[i]^1) + token[i+1:]
		if w := s.ask("GET", timeline+"&page_token="+url.QueryEscape(changed), ""); w.Code != 400 {
			t.Errorf("a token changed at %d: %d %s", i, w.Code, w.Body)
		}
	}
}

func TestVersionsAreETags(t *testing.T) {
	s := newShop(t, nil)
	path := "/api/v1/tables/centre:scans/rows/" + url.PathEscape(s.row)
	for has, want := range map[string]int{`"9"`: 304, `W/"9"`: 304, `"1", "9"`: 304, "*": 304, `"8"`: 200, "9": 200, "": 200} {
		w := s.ask("GET", path, "", "If-None-Match", has)
		if w.Code != want || w.Header().Get("ETag") != `"9"` || want == 304 && w.Body.Len() > 0 {
			t.Errorf("If-None-Match: %s: %d %v %s, want %d", has, w.Code, w.Header(), w.Body, want)
		}
	}
}

func TestStreamsEndWithALineThatSaysSo(t *testing.T) {
	s := newShop(t, nil)
	ask := func() (lines []string) {
		w := s.ask("GET", timeline+"&page_size=3", "", "Accept", "application/x-ndjson")
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/x-ndjson" {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
		return strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	}
	if lines := ask(); len(lines) != 4 || !strings.HasPrefix(lines[3], `{"end":{"next_page_token":"`) {
		t.Errorf("a whole answer: %q", lines)
	}
	s.fails = 3
	if lines := ask(); len(lines) != 3 || !strings.HasPrefix(lines[2], `{"error":{"type":"/api/v1/docs#unavailable"`) || strings.Contains(lines[2], "hunter2") {
		t.Errorf("an answer that broke: %q", lines)
	}
	s.fails = 1
	if w := s.ask("GET", timeline, "", "Accept", "application/x-ndjson"); w.Code != 503 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("an answer that never began: %d %v %s", w.Code, w.Header(), w.Body)
	}
	s.run()
	s.fails = 3
	_, err := (&client.Client{Base: s.base}).Stream(t.Context(), "waybill", url.Values{"waybill": {"W1"}}, func(client.Row) error { return nil })
	if p := (*client.Problem)(nil); !errors.As(err, &p) || p.Status != 503 {
		t.Errorf("the client's error is %v", err)
	}
}

// TestAMissingTableIsNamed checks that what the configuration has but the store lacks is named, and is not reported as an outage: a retry
// does not help.
func TestAMissingTableIsNamed(t *testing.T) {
	s := newShop(t, nil)
	for target, gone := range map[string]error{
		timeline: &hbase.Error{Op: "scan", Table: "centre:scans", Server: "hunter2:16020", Err: hbase.ErrNoTable},
		"/api/v1/views/orders-by-status?status=paid": fmt.Errorf("hunter2:9200: %w", search.ErrNoIndex),
	} {
		s.gone = gone
		w := s.ask("GET", target, "")
		if body := w.Body.String(); w.Code != 404 || !strings.Contains(body, "docs#not-made") || strings.Contains(body, "hunter2") ||
			!strings.Contains(body, "HBase has no table centre:scans") && !strings.Contains(body, "lacks the requested index") {
			t.Errorf("%s: %d %s", target, w.Code, body)
		}
	}
}

// TestStoreAway checks that a store that is down leads to 503 within the deadline, that routes without it work, and that its error is only
// in the log.
func TestStoreAway(t *testing.T) {
	s := newShop(t, nil)
	s.away = true
	synctest.Test(t, func(t *testing.T) {
		for _, target := range []string{timeline, "/api/v1/tables/centre:scans/rows/none", "/api/v1/views/orders-by-status?status=paid"} {
			began := time.Now()
			w := s.ask("GET", target, "", "X-Request-Id", "mine")
			if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"request_id":"mine"`) {
				t.Errorf("%s: %d %s", target, w.Code, w.Body)
			}
			if took := time.Since(began); took != patience {
				t.Errorf("%s: answered after %v, want %v", target, took, patience)
			}
			if strings.Contains(w.Body.String(), "hunter2") {
				t.Errorf("%s shows what the store said: %s", target, w.Body)
			}
		}
		if log := s.log.String(); !strings.Contains(log, "request=mine") || !strings.Contains(log, "rs-7.internal") {
			t.Errorf("the log is\n%s", log)
		}
		if w := s.ask("GET", "/api/v1/views", ""); w.Code != 200 {
			t.Errorf("a route without stores: %d %s", w.Code, w.Body)
		}
	})
}

func TestOneTooManyIsShedAtOnce(t *testing.T) {
	shed := 0
	s := newShop(t, func(o *serve.Options) {
		o.InFlight, o.Timeout, o.Hooks = 1, patience, serve.Hooks{Shed: func() { shed++ }}
	})
	s.run()
	begun := make(chan struct{})
	s.away, s.first = true, begun
	waiting := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.base+timeline, nil)
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		waiting <- err
	}()
	<-begun
	if w := s.ask("GET", timeline, ""); w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "docs#overloaded") || shed != 1 {
		t.Errorf("%d %s, shed %d", w.Code, w.Body, shed)
	}
	if w := s.ask("GET", "/api/v1/docs", ""); w.Code != 200 {
		t.Errorf("the page: %d", w.Code)
	}
	cancel()
	<-waiting
}

func TestAnswersAreCompressedForWhoAsks(t *testing.T) {
	s := newShop(t, nil)
	for _, coding := range []string{"gzip", "zstd"} {
		w := s.ask("GET", "/api/v1/openapi.json", "", "Accept-Encoding", coding)
		if w.Header().Get("Content-Encoding") != coding || w.Body.Len() > 8<<10 {
			t.Errorf("%s: %v, %d bytes", coding, w.Header(), w.Body.Len())
		}
	}
}

func TestRequestIDsAreTakenOrMade(t *testing.T) {
	s := newShop(t, nil)
	for given, kept := range map[string]bool{"a-1_B.9": true, "": false, "a b": false, strings.Repeat("x", 65): false, "a\x00": false} {
		got := s.ask("GET", "/api/v1/views", "", "X-Request-Id", given).Header().Get("X-Request-Id")
		if (got == given) != kept || got == "" {
			t.Errorf("%q becomes %q", given, got)
		}
	}
}

// TestOpenAPI compares the document of examples/shop.yaml with its file; -update writes it.
func TestOpenAPI(t *testing.T) {
	const file = "testdata/shop.openapi.json"
	s := newShop(t, nil)
	got, err := s.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, append(got, '\n'), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("%s (-want +got), go test ./serve -update writes it:\n%s", file, diff)
	}
	if served := s.ask("GET", "/api/v1/openapi.json", "").Body.String(); served != string(got) {
		t.Error("the document that is served is another")
	}
	var doc struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(got, &doc); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for path, methods := range doc.Paths {
		for method := range methods {
			paths = append(paths, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(paths)
	if diff := cmp.Diff(s.Paths(), paths); diff != "" {
		t.Errorf("routes (-served +described):\n%s", diff)
	}
}

// FuzzQuery checks that, whatever the parameters, the answer is complete or a problem, and never an internal error.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"waybill=W1", "waybill=W1&at.from=2013&at.to=..", "waybill==a..b,c&at=%3D", "waybill=%ff&page_size=1e9", "page_token=AQ"} {
		f.Add(q)
	}
	s := newShop(f, nil)
	f.Fuzz(func(t *testing.T, q string) {
		for _, view := range []string{"waybill", "user-orders", "order"} {
			r := &http.Request{Method: "GET", Host: "localhost", URL: &url.URL{Path: "/api/v1/views/" + view, RawQuery: q}, Header: http.Header{}, Body: http.NoBody}
			checkAnswer(t, s, r)
		}
	})
}

// FuzzPageToken checks that a token that was not made for the question is refused.
func FuzzPageToken(f *testing.F) {
	s := newShop(f, nil)
	var page client.Page
	if err := json.Unmarshal(s.ask("GET", timeline+"&page_size=1", "").Body.Bytes(), &page); err != nil {
		f.Fatal(err)
	}
	f.Add(page.Next)
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, token string) {
		q := url.Values{"waybill": {"W1"}, "page_token": {token}}
		r := &http.Request{Method: "GET", Host: "localhost", URL: &url.URL{Path: "/api/v1/views/waybill", RawQuery: q.Encode()}, Header: http.Header{}, Body: http.NoBody}
		// The checksum is not a seal: a client that computes it can start after any row of the question, which is no more than the question
		// shows.
		if code := checkAnswer(t, s, r); code == 200 && token != "" && !strings.HasPrefix(token, page.Next[:6]) {
			t.Errorf("token %q is taken", token)
		}
	})
}

func checkAnswer(t *testing.T, s *shop, r *http.Request) int {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if !json.Valid(w.Body.Bytes()) || w.Code >= 500 {
		t.Errorf("%s: %d %s", r.URL, w.Code, w.Body)
	}
	return w.Code
}
