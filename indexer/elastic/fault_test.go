package elastic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"brine/event"
	"brine/indexer"
	"brine/indexer/elastic"
	"brine/indexer/indexertest"
)

func TestMain(m *testing.M) {
	// Parallel tests wait for real servers to create indexes, so more of them run than there are processors.
	if err := flag.Set("test.parallel", strconv.Itoa(max(6, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// run is a writer over a server.
type run struct {
	*indexer.Writer
	items map[indexer.Outcome]int // counts so far; read when nothing is in flight
}

func start(t *testing.T, s *server, changes indexer.Changes, set func(*indexer.Options)) *run {
	t.Helper()
	there := elastic.Options{Addresses: []string{"http://inside:9200"}, Transport: s}
	if s.Server != nil {
		there = elastic.Options{Addresses: []string{s.URL}, Transport: &http.Transport{}}
	}
	e, err := elastic.Open(there)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{items: map[indexer.Outcome]int{}}
	opts := indexertest.Options(t, "orders", changes)
	opts.Calls, opts.Pause, opts.MaxPause, opts.MaxBulkDocuments = 1, time.Microsecond, time.Millisecond, 4
	opts.Hooks.Items = func(i indexer.ItemsInfo) { r.items[i.Outcome] += i.Events }
	if set != nil {
		set(&opts)
	}
	if r.Writer, err = indexer.New(e, opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); e.Close() })
	return r
}

func (r *run) write(t *testing.T, events ...event.Event) []event.Failure {
	t.Helper()
	ctx := context.Background()
	failures, err := event.Settle(ctx, r.Submit(ctx, &event.Batch{Events: events}))
	if err != nil {
		t.Fatal(err)
	}
	r.Close() // so that items can be read
	sum := 0
	for outcome, n := range r.items {
		if outcome != indexer.Again {
			sum += n
		}
	}
	if sum != len(events) {
		t.Errorf("%d outcomes for %d events: %v", sum, len(events), r.items)
	}
	return failures
}

// orders returns changes of ten orders, some of them older, repeated or tied.
func orders() []event.Event {
	var events []event.Event
	for i := range 10 {
		order := fmt.Sprint("o", i)
		events = append(events,
			indexertest.Event(10, order, "created", "tea", i),
			indexertest.Event(20, order, "paid", nil, i),
			indexertest.Event(15, order, "late", "coffee"),
			indexertest.Event(20, order, "tie", nil, i+1))
	}
	return events
}

func checkOrders(t *testing.T, s *server, changes indexer.Changes) {
	t.Helper()
	for i := range 10 {
		want := fmt.Sprintf(`{"_ver":20,"item":"coffee","number":%d,"status":"tie"}`, i+1)
		if changes == indexer.Whole {
			want = fmt.Sprintf(`{"_ver":20,"number":%d,"status":"tie"}`, i+1)
		}
		if got := s.document(fmt.Sprint("o", i)); got != want {
			t.Errorf("order %d: %s, want %s", i, got, want)
		}
	}
}

// TestFailedFlushDropsNothing makes one call fail in every possible way: the first, then the second, until a run has no failure. Each time
// all documents must be as if nothing had happened.
func TestFailedFlushDropsNothing(t *testing.T) {
	first := func(status int) fault {
		return instead(func(answer map[string][]map[string]map[string]any) {
			for _, item := range answer["items"][0] {
				item["status"] = status
			}
		})
	}
	for name, f := range map[string]fault{
		"429 of the whole":       status(429, `{"error":{"reason":"too many requests"}}`),
		"503 of the whole":       status(503, "no healthy upstream"),
		"408 of the whole":       status(408, ""),
		"500 after it was done":  func(w http.ResponseWriter, apply func() []byte) { apply(); w.WriteHeader(500) },
		"dropped":                drop,
		"dropped after its end":  func(_ http.ResponseWriter, apply func() []byte) { apply(); panic(http.ErrAbortHandler) },
		"reset in the answer":    cut(true),
		"answer cut off":         cut(false),
		"empty answer":           func(w http.ResponseWriter, apply func() []byte) { apply(); w.WriteHeader(200) },
		"not JSON":               status(200, "<html>login</html>"),
		"another JSON":           status(200, `{"took":1}`),
		"redirect":               status(302, ""),
		"429 of the first item":  first(429),
		"503 of the first item":  first(503),
		"no status of the first": first(0),
		"the first item missing": instead(func(a map[string][]map[string]map[string]any) { a["items"] = a["items"][1:] }),
		"the last item missing":  instead(func(a map[string][]map[string]map[string]any) { a["items"] = a["items"][:len(a["items"])-1] }),
		"an item too many":       instead(func(a map[string][]map[string]map[string]any) { a["items"] = append(a["items"], a["items"][0]) }),
		"items exchanged": instead(func(a map[string][]map[string]map[string]any) {
			if list := a["items"]; len(list) > 1 {
				list[0], list[1] = list[1], list[0]
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
				failed := true
				for at := 0; failed; at++ {
					s := newServer(t)
					failed = false
					s.fault = func(call int, _ string, _ []byte) fault {
						if call != at {
							return nil
						}
						failed = true
						return f
					}
					if failures := start(t, s, changes, nil).write(t, orders()...); len(failures) > 0 {
						t.Fatalf("%s, call %d: %d failures: %v", changes, at, len(failures), failures[0].Err)
					}
					checkOrders(t, s, changes)
				}
			}
		})
	}
}

// TestItemsOf200Refused429 repeats answers of 200 with refused items in them.
func TestItemsOf200Refused429(t *testing.T) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		s := newServer(t)
		s.fault = func(call int, path string, body []byte) fault {
			if call > 60 || path != "/_bulk" {
				return nil
			}
			return func(w http.ResponseWriter, _ func() []byte) { // accepts only the last document
				lines := bytes.SplitAfter(body, []byte("\n"))
				n := len(lines) / 2
				items := refused(bytes.Join(lines[:2*(n-1)], nil), 429, "es_rejected_execution_exception")
				var last map[string][]any
				_ = json.Unmarshal(s.bulk(bytes.Join(lines[2*(n-1):2*n], nil)), &last)
				_, _ = w.Write(mustJSON(map[string]any{"items": append(items, last["items"]...)}))
			}
		}
		if failures := start(t, s, changes, nil).write(t, orders()...); len(failures) > 0 {
			t.Fatalf("%s: %v", changes, failures[0].Err)
		}
		checkOrders(t, s, changes)
	}
}

// TestOutage takes the server away for longer than events are retried. All events must fail with retry, and none be lost or become a dead
// letter. Submitted again afterwards, they are written.
func TestOutage(t *testing.T) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		s := newServer(t)
		s.fault = func(int, string, []byte) fault { return drop }
		short := func(o *indexer.Options) { o.RetryFor = 20 * time.Millisecond }
		failures := start(t, s, changes, short).write(t, orders()...)
		if len(failures) != len(orders()) {
			t.Fatalf("%s: %d failures", changes, len(failures))
		}
		for i, f := range failures {
			if f.Index != i || f.Verdict != event.Retry || f.Reason != event.Unavailable || f.Err == nil {
				t.Fatalf("%s: %+v", changes, f)
			}
		}
		s.heal()
		if failures := start(t, s, changes, nil).write(t, orders()...); len(failures) > 0 {
			t.Fatalf("%s: %v", changes, failures[0].Err)
		}
		checkOrders(t, s, changes)
	}
}

// TestVerdicts tests failures that are not transient, by status alone.
func TestVerdicts(t *testing.T) {
	poison := func(_ int, _ string, body []byte) fault {
		if bytes.Contains(body, []byte("poison")) {
			return status(400, "illegal request")
		}
		return nil
	}
	always := func(code int) func(int, string, []byte) fault {
		return func(int, string, []byte) fault {
			return status(code, `{"error":{"type":"renamed_exception","reason":"why"}}`)
		}
	}
	itemsOf := func(code int, kind string) func(int, string, []byte) fault {
		return func(_ int, path string, body []byte) fault {
			if path != "/_bulk" {
				return nil
			}
			return func(w http.ResponseWriter, _ func() []byte) { _, _ = w.Write(refuseAll(body, code, kind)) }
		}
	}
	good := orders()
	with := func(id, text string) []event.Event { // among the changes of o2, and newer
		return append(append(good[:9:9], indexertest.Event(30, id, text)), good[9:]...)
	}
	for _, c := range []struct {
		name    string
		fault   func(int, string, []byte) fault
		events  []event.Event
		verdict event.Verdict
		reason  event.Reason
		only    bool // only the event at 9 fails, and all orders are written
		says    string
	}{
		{"mapping", nil, with("x", "refused"), event.Reject, event.MappingRefused, true, "failed to parse field [status]"},
		{"mapping, among changes of one order", nil, with("o2", "refused"), event.Reject, event.MappingRefused, true, "o2"},
		{"a request that one document spoils", poison, with("poison", "x"), event.Reject, event.Refused, true, "illegal request"},
		{"every request refused", always(400), good, event.Halt, event.Unknown, false, "search.connect"},
		{"401", always(401), good, event.Halt, event.Denied, false, "grant"},
		{"403", always(403), good, event.Halt, event.Denied, false, "why"},
		{"a kind that is not known", nil, with("x", "odd"), event.Reject, event.Refused, true, "immense"},
		{"a closed index", itemsOf(400, "index_closed_exception"), good, event.Halt, event.NoTable, false, "open the index"},
		{"an alias without an index to write to", itemsOf(400, "illegal_argument_exception"), good, event.Halt, event.Unknown, false, "no other document"},
		{"a write block", itemsOf(403, "cluster_block_exception"), good, event.Halt, event.Denied, false, "write block"},
		{"404", always(404), good, event.Halt, event.NoTable, false, "brine tables apply"},
	} {
		for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
			t.Run(c.name+"/"+string(changes), func(t *testing.T) {
				s := newServer(t)
				s.fault = c.fault
				failures := start(t, s, changes, nil).write(t, c.events...)
				if c.only && (len(failures) != 1 || failures[0].Index != 9) || !c.only && len(failures) != len(c.events) {
					t.Fatalf("%d failures: %+v", len(failures), failures)
				}
				for _, f := range failures {
					if f.Verdict != c.verdict || f.Reason != c.reason || !strings.Contains(f.Err.Error(), c.says) {
						t.Errorf("verdict %d, reason %s: %v", f.Verdict, f.Reason, f.Err)
					}
				}
				if c.only {
					checkOrders(t, s, changes)
				}
			})
		}
	}
}

// early answers the first call before it has read its body, and reads that body while the second call is sent, as HTTP/2 does.
type early struct {
	first io.ReadCloser
	late  string // what the first body returned then
	took  string // the body of the second call
}

func (p *early) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.first == nil {
		p.first = r.Body
		_, _ = r.Body.Read(make([]byte, 1))
		r.Body.Close()
		return answered(r, http.StatusTooManyRequests, strings.NewReader(`{}`)), nil
	}
	late := make([]byte, 1<<10)
	n, _ := p.first.Read(late)
	p.late = string(late[:n])
	took, err := io.ReadAll(r.Body)
	r.Body.Close()
	p.took = string(took)
	return answered(r, http.StatusOK, strings.NewReader(`{"items":[{"index":{"_id":"b","status":200}}]}`)), err
}

// A finished call reads nothing of the next one's body, although both are from one pool.
func TestBodyOfAnEndedCallIsNotReadOn(t *testing.T) {
	p := &early{}
	e, err := elastic.Open(elastic.Options{Addresses: []string{"http://inside:9200"}, Transport: p})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	results := make([]indexer.Result, 1)
	for _, id := range []string{"a", "b"} {
		err = e.Bulk(t.Context(), []indexer.Op{{Kind: indexer.Put, Index: "orders", ID: []byte(id), Version: 1, Source: []byte(`{"of":"` + id + `"}`)}}, results)
	}
	if err != nil || results[0].Status != http.StatusOK {
		t.Fatalf("%v, %+v", err, results[0])
	}
	if p.late != "" || !strings.HasPrefix(p.took, `{"index":{"_index":"orders","_id":"b"`) || !strings.HasSuffix(p.took, `{"of":"b"}`+"\n") {
		t.Errorf("the call that had ended read %q, and the next one was %q", p.late, p.took)
	}
}
