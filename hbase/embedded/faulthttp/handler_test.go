package faulthttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/embedded/faulthttp"
	"brine/hbase/hbasetest"
	"brine/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "a token of the test"

// world is a server with a table of two regions, a client of it, and the port.
type world struct {
	t      *testing.T
	server *hbasetest.Server
	client *hbase.Client
	port   http.Handler
}

func begin(t *testing.T, set ...func(*embedded.Options)) *world {
	t.Helper()
	s := hbasetest.Run(t, append(set, func(o *embedded.Options) { o.Listen = testenv.Listen(t) })...)
	h, err := faulthttp.Handler(s.Server, token)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, server: s, client: s.Client(t), port: h}
	for _, name := range []string{"t", "u"} {
		table := hbase.Table{Name: name, Families: []hbase.Family{{Name: "f"}}}
		if err := w.client.CreateTable(t.Context(), table, [][]byte{[]byte("m")}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// ask sends a request to the port and decodes its answer.
func (w *world) ask(method, path, body string, answer any) (status int) {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	rec := httptest.NewRecorder()
	w.port.ServeHTTP(rec, r)
	if answer != nil {
		if err := json.Unmarshal(rec.Body.Bytes(), answer); err != nil {
			w.t.Fatalf("%s %s: %v in %s", method, path, err, rec.Body)
		}
	}
	if rec.Code >= 400 {
		w.t.Logf("%s %s: %d %s", method, path, rec.Code, rec.Body)
	}
	return rec.Code
}

// must sends a request that has to succeed.
func (w *world) must(method, path, body string) {
	w.t.Helper()
	if status := w.ask(method, path, body, nil); status != http.StatusOK {
		w.t.Fatalf("%s %s %s: %d", method, path, body, status)
	}
}

// put writes rows in one batch and returns those that failed.
func (w *world) put(table string, rows ...string) (failed []string) {
	w.t.Helper()
	b := hbase.NewBatch(table)
	for _, row := range rows {
		b.Mutate([]byte(row))
		b.Put([]byte("f"), []byte("q"), 1, []byte("v"))
	}
	fs, err := w.client.Submit(w.t.Context(), b).Wait(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range fs {
		failed = append(failed, string(b.Row(f.Index)))
	}
	return failed
}

func (w *world) get(table, row string) error {
	_, err := w.client.Get(w.t.Context(), table, hbase.Get{Row: []byte(row)})
	return err
}

// hits returns the number of requests that each fault affected, in order.
func (w *world) hits() (hits []int) {
	w.t.Helper()
	var all []faulthttp.Fault
	w.ask("GET", "/v1/faults", "", &all)
	for _, f := range all {
		hits = append(hits, f.Hits)
	}
	return hits
}

// TestWithoutTheTokenNothingIsAnswered: on no route, neither with another token nor another scheme nor without one.
func TestWithoutTheTokenNothingIsAnswered(t *testing.T) {
	s := hbasetest.Run(t)
	if _, err := faulthttp.Handler(s.Server, ""); err == nil {
		t.Error("a port without a token was made")
	}
	h, err := faulthttp.Handler(s.Server, token)
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []string{"", "Bearer ", "Bearer wrong", "Basic " + token, token, "bearer" + token} {
		for _, route := range []string{"GET /v1/status", "POST /v1/disk", "GET /nowhere"} {
			method, path, _ := strings.Cut(route, " ")
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(`{"full":true}`))
			if header != "" {
				r.Header.Set("Authorization", header)
			}
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			if rec.Code != http.StatusUnauthorized || strings.Contains(rec.Body.String(), token) {
				t.Errorf("%s with %q: %d %s", route, header, rec.Code, rec.Body)
			}
		}
	}
	if s.Broken() != nil {
		t.Error("the disk was filled")
	}
}

// TestFaultsMeetWhatTheyName: faults affect only what they name by call, table, row, node and number.
func TestFaultsMeetWhatTheyName(t *testing.T) {
	const refuse = `"fail":"DoNotRetryIOException"`
	for _, c := range []struct {
		name, fault string
		failed      string // rows among a, b, z in t that failed, each written in its own batch, then read
		hits        int
	}{
		{"the first of a table", `{"call":"Multi","table":"t",` + refuse + `}`, "a", 1},
		{"another table", `{"table":"u",` + refuse + `}`, "", 0},
		{"a row", `{"call":"write","row":"b",` + refuse + `,"always":true}`, "b", 1},
		{"a row in base64", `{"call":"write","row_base64":"Yg==",` + refuse + `}`, "b", 1},
		{"a prefix", `{"call":"write","row_prefix":"z",` + refuse + `}`, "z", 1},
		{"the second", `{"call":"write","after":1,` + refuse + `}`, "b", 1},
		{"two", `{"call":"write","count":2,` + refuse + `}`, "a b", 2},
		{"all", `{"call":"write","always":true,` + refuse + `}`, "a b z", 3},
		{"reads", `{"call":"read","row":"b",` + refuse + `}`, "get b", 1},
		{"a node that is another one", `{"node":7,"always":true,` + refuse + `}`, "", 0},
		{"what is tried again", `{"call":"write","table":"t","fail":"NotServingRegionException","count":3}`, "", 3},
		{"a wait", `{"call":"write","delay":"1ms","always":true}`, "", 3},
		{"a connection that ends", `{"call":"write","drop":true}`, "", 1},
		{"an answer that is lost", `{"call":"write","drop":true,"apply":true}`, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			w.must("POST", "/v1/faults", c.fault)
			var failed []string
			for _, row := range []string{"a", "b", "z"} {
				failed = append(failed, w.put("t", row)...)
			}
			for _, row := range []string{"a", "b", "z"} {
				if err := w.get("t", row); err != nil {
					failed = append(failed, "get "+row)
				}
			}
			if got := strings.Join(failed, " "); got != c.failed {
				t.Errorf("%q failed, want %q", got, c.failed)
			}
			if hits := w.hits(); len(hits) != 1 || hits[0] != c.hits {
				t.Errorf("the fault was met %v times, want %d", hits, c.hits)
			}
		})
	}
}

// TestOneRowOfABatch: a fault of a row does not affect the other rows of its call; a fault of a table does not affect another table.
func TestOneRowOfABatch(t *testing.T) {
	w := begin(t)
	w.must("POST", "/v1/faults", `{"row":"b","fail":"DoNotRetryIOException","message":"not this one"}`)
	if failed := w.put("t", "a", "b", "c", "z"); strings.Join(failed, " ") != "b" {
		t.Errorf("%v failed", failed)
	}
}

// TestScansMeetFaultsOfTheirTable: faults of a table also affect scans that continue with a scanner's number.
func TestScansMeetFaultsOfTheirTable(t *testing.T) {
	w := begin(t)
	w.put("t", "a", "b", "c")
	w.must("POST", "/v1/faults", `{"call":"Scan","table":"t","after":1,"fail":"DoNotRetryIOException"}`)
	var err error
	for _, e := range w.client.Scan(t.Context(), "t", hbase.Scan{Caching: 1}) {
		err = errors.Join(err, e)
	}
	if err == nil || w.hits()[0] != 1 {
		t.Errorf("the scan went through (%v)", w.hits())
	}
}

// TestFaultsAreListedAndDeleted: an id deletes one fault, no id deletes all.
func TestFaultsAreListedAndDeleted(t *testing.T) {
	w := begin(t)
	for range 3 {
		w.must("POST", "/v1/faults", `{"call":"write","fail":"DoNotRetryIOException","always":true}`)
	}
	w.must("DELETE", "/v1/faults/2", "")
	if status := w.ask("DELETE", "/v1/faults/2", "", nil); status != http.StatusNotFound {
		t.Errorf("a fault was deleted twice: %d", status)
	}
	var all []faulthttp.Fault
	w.ask("GET", "/v1/faults", "", &all)
	if len(all) != 2 || all[0].ID != 1 || all[1].ID != 3 {
		t.Errorf("there are %v", all)
	}
	if failed := w.put("t", "a"); len(failed) != 1 {
		t.Error("the fault was not met")
	}
	w.must("DELETE", "/v1/faults", "")
	if failed := w.put("t", "a"); len(failed) != 0 {
		t.Error("a fault that was deleted was met")
	}
}

// TestRegionsSplitMergeAndMove: by table and row, or by encoded name.
func TestRegionsSplitMergeAndMove(t *testing.T) {
	w := begin(t, func(o *embedded.Options) { o.Servers = 2 })
	type region struct {
		Region, Start, End string
		Node               int
	}
	list := func() (all []region) {
		w.ask("GET", "/v1/regions?table=t", "", &all)
		return all
	}
	var halves struct{ Regions []string }
	if status := w.ask("POST", "/v1/regions/split", `{"table":"t","row":"g"}`, &halves); status != http.StatusOK || len(halves.Regions) != 2 {
		t.Fatalf("split: %d %v", status, halves)
	}
	if all := list(); len(all) != 3 || all[0].End != "g" || all[1].Start != "g" || all[1].Region != halves.Regions[1] {
		t.Errorf("after the split: %v", all)
	}
	to := 1 - list()[0].Node
	w.must("POST", "/v1/regions/move", `{"region":"`+halves.Regions[0]+`","to":`+string(rune('0'+to))+`}`)
	if all := list(); all[0].Node != to {
		t.Errorf("after the move it is on %d, want %d", all[0].Node, to)
	}
	var merged struct{ Regions []string }
	w.ask("POST", "/v1/regions/merge", `{"regions":["`+strings.Join(halves.Regions, `","`)+`"]}`, &merged)
	if all := list(); len(all) != 2 || len(merged.Regions) != 1 || all[0].Region != merged.Regions[0] {
		t.Errorf("after the merge: %v, %v", all, merged)
	}
	w.must("POST", "/v1/regions/balance", "")
	if failed := w.put("t", "a", "h", "z"); len(failed) > 0 {
		t.Errorf("%v failed", failed)
	}
}

// TestNodesDieAndCome: a killed node's regions move to the other one, and reset restarts it.
func TestNodesDieAndCome(t *testing.T) {
	w := begin(t, func(o *embedded.Options) { o.Servers, o.DetectAfter = 2, time.Millisecond })
	type status struct {
		Nodes []struct {
			Node int
			Up   bool
		}
	}
	var s status
	w.ask("POST", "/v1/nodes/1/kill", "", &s)
	if len(s.Nodes) != 3 || !s.Nodes[0].Up || s.Nodes[1].Up || s.Nodes[2].Node != -1 || !s.Nodes[2].Up {
		t.Errorf("after the kill: %v", s)
	}
	if code := w.ask("POST", "/v1/nodes/1/kill", "", nil); code != http.StatusConflict {
		t.Errorf("a second kill: %d", code)
	}
	if failed := w.put("t", "a", "z"); len(failed) > 0 {
		t.Errorf("%v failed", failed)
	}
	w.must("POST", "/v1/nodes/0/slow", `{"bytes_per_second":1000000}`)
	w.must("POST", "/v1/nodes/0/clock", `{"ahead":"10m"}`)
	w.must("POST", "/v1/nodes/0/freeze", "")
	w.must("POST", "/v1/reset", "")
	w.ask("GET", "/v1/status", "", &s)
	if !s.Nodes[1].Up {
		t.Error("reset left a node down")
	}
	w.must("POST", "/v1/nodes", "")
	if n := len(w.server.Nodes()); n != 3 {
		t.Errorf("there are %d nodes", n)
	}
	if failed := w.put("t", "a", "z"); len(failed) > 0 {
		t.Errorf("%v failed", failed)
	}
}

// TestFullDisk: no write is acknowledged while the disk is full, even in memory; pending writes succeed once it no longer is.
func TestFullDisk(t *testing.T) {
	for name, dir := range map[string]string{"in memory": "", "in a folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, func(o *embedded.Options) { o.Dir = dir })
			w.put("t", "before")
			w.must("POST", "/v1/disk", `{"full":true}`)
			var s struct{ Broken string }
			w.ask("GET", "/v1/status", "", &s)
			if !strings.Contains(s.Broken, "no space left on device") {
				t.Errorf("the server is broken by %q", s.Broken)
			}
			b := hbase.NewBatch("t")
			b.Mutate([]byte("during"))
			b.Put([]byte("f"), []byte("q"), 1, []byte("v"))
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			flight := w.client.Submit(t.Context(), b)
			if _, err := flight.Wait(ctx); err == nil {
				t.Error("a write went through")
			}
			w.must("POST", "/v1/disk", `{"full":false}`)
			if failed, err := flight.Wait(t.Context()); err != nil || len(failed) > 0 {
				t.Errorf("the write that waited: %v %v", failed, err)
			}
			row, err := w.client.Get(t.Context(), "t", hbase.Get{Row: []byte("before")})
			if err != nil || len(row.Cells) != 1 {
				t.Errorf("what was there before: %v %v", row.Cells, err)
			}
		})
	}
}

// TestWrongRequestsAreRefused: invalid requests are refused with a reason and change nothing.
func TestWrongRequestsAreRefused(t *testing.T) {
	w := begin(t)
	for body, want := range map[string]string{
		`{}`:                                                "give delay, fail, drop or silent",
		`{"fail":"NoSuch"}`:                                 "unknown exception",
		`{"call":"Gte","drop":true}`:                        "unknown",
		`{"drop":true,"silent":true}`:                       "give one of",
		`{"drop":true,"colour":1}`:                          "unknown field",
		`{"drop":true} {"drop":true}`:                       "more than one JSON value",
		`{"drop":true,"count":-1}`:                          "must be at least 0",
		`{"drop":true,"count":2,"always":true}`:             "count cannot be combined with always",
		`{"delay":"-1s"}`:                                   "give a duration",
		`{"delay":"9000h"}`:                                 "give a duration",
		`{"drop":true,"row_base64":"*"}`:                    "row_base64",
		`{"drop":true,"row":"a","row_base64":"YQ=="}`:       "give row or",
		`{"id":4,"drop":true}`:                              "are only for answers",
		`[1]`:                                               "JSON",
		`{"message":"` + strings.Repeat("x", 70_000) + `"}`: "too large",
	} {
		var answer struct{ Error string }
		if status := w.ask("POST", "/v1/faults", body, &answer); status != http.StatusBadRequest || !strings.Contains(answer.Error, want) {
			t.Errorf("%.60s: %d %q, want %q", body, status, answer.Error, want)
		}
	}
	for path, status := range map[string]int{
		"/v1/nodes/9/kill": 404, "/v1/nodes/x/kill": 404, "/v1/nodes/0/explode": 404, "/v1/nodes/0/slow": 400, "/v1/nodes/0/clock": 400, "/v1/nodes/0/start": 409,
		"/v1/regions/split": 404, "/v1/regions/merge": 409, "/v1/disk": 400, "/v1/nothing": 404,
	} {
		if got := w.ask("POST", path, "{}", nil); got != status {
			t.Errorf("%s: %d, want %d", path, got, status)
		}
	}
	if len(w.hits()) > 0 || w.server.Broken() != nil {
		t.Error("something has changed")
	}
}

// FuzzRequests: no body and no path makes the port panic, or answer with anything but JSON and a status of ours.
func FuzzRequests(f *testing.F) {
	s, err := embedded.Start(embedded.Options{DetectAfter: time.Millisecond})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	h, err := faulthttp.Handler(s, token)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []struct{ path, body string }{
		{"/v1/faults", `{"call":"Multi","table":"t","row":"r","fail":"NotServingRegionException","count":2}`},
		{"/v1/regions/split", `{"table":"t","row":"g"}`}, {"/v1/regions/move", `{"region":"x","to":0}`}, {"/v1/regions/merge", `{"regions":["a","b"]}`},
		{"/v1/nodes/0/clock", `{"ahead":"1s"}`}, {"/v1/disk", `{"full":false}`}, {"/v1/faults", `{"delay":"1ms","row_base64":"AA=="}`},
	} {
		f.Add(seed.path, []byte(seed.body))
	}
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		if !strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/v1/nodes") && !strings.HasSuffix(path, "/clock") {
			return // the nodes of the fuzzed server stay as they are
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://faults"+path, bytes.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		switch rec.Code {
		case 200, 400, 404, 409:
			text, _ := io.ReadAll(rec.Body)
			if rec.Header().Get("Content-Type") == "application/json" && !json.Valid(text) {
				t.Errorf("%d %q", rec.Code, text)
			}
		case 301, 307, 308, 405: // from the mux
		default:
			t.Errorf("%s: %d", path, rec.Code)
		}
	})
}
