package elastic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/elastic"
	"brine/indexer/indexertest"
	"brine/rowkey"
	"brine/search"
)

// routeByStatus makes a test route its documents by their status, with which their key begins.
func routeByStatus(t *testing.T, opts *indexer.Options) {
	t.Helper()
	key, err := rowkey.Parse(`status + "|" + order`, []rowkey.Field{{Name: "order", Type: rowkey.Text}, {Name: "status", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	opts.Documents[0].Key, opts.Documents[0].Routing = key, "status"
}

// writeRouted writes with three calls at once, each of which may be the one that learns the routing.
func writeRouted(t *testing.T, s *server, changes indexer.Changes, events ...event.Event) []event.Failure {
	t.Helper()
	e, err := elastic.Open(elastic.Options{Addresses: []string{s.URL}, Transport: &http.Transport{}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	opts := indexertest.Options(t, "orders", changes)
	opts.Calls, opts.Pause, opts.MaxPause, opts.MaxBulkDocuments = 3, time.Microsecond, time.Millisecond, 4
	routeByStatus(t, &opts)
	w, err := indexer.New(e, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	failures, err := event.Settle(t.Context(), w.Submit(t.Context(), &event.Batch{Events: events}))
	if err != nil {
		t.Fatal(err)
	}
	return failures
}

// routedServer requires the routing of routeByStatus.
func routedServer(t *testing.T) *server {
	s := newServer(t)
	s.routing = &indexer.Routing{Field: "status", From: "status", Key: `status + "|" + order`, Types: map[string]string{"order": "text", "status": "text"}}
	return s
}

// TestRoutingIsLearnt checks that a writer that knows no routing learns it from the server, and then writes each document to one shard,
// whatever happens to its calls.
func TestRoutingIsLearnt(t *testing.T) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		for broken := range 5 {
			s := routedServer(t)
			s.fault = func(call int, _ string, _ []byte) fault {
				if call == broken {
					return drop
				}
				return nil
			}
			if failures := writeRouted(t, s, changes, orders()...); len(failures) > 0 {
				t.Fatalf("%s, call %d is broken: %v", changes, broken, failures[0].Err)
			}
			s.mu.Lock()
			want := map[string]bool{}
			for _, ev := range orders() {
				id := string(ev.Values[1].Text()) + "|" + string(ev.Values[0].Text())
				want[id+"@"+indexer.RoutingOf(string(ev.Values[1].Text()))] = true
			}
			for key := range s.docs {
				if !want[key] {
					t.Errorf("%s, call %d is broken: document %s is on a shard that is not its own", changes, broken, key)
				}
			}
			if len(s.docs) != len(want) {
				t.Errorf("%s, call %d is broken: %d documents, want %d", changes, broken, len(s.docs), len(want))
			}
			if s.mappings == 0 || s.mappings > 3 {
				t.Errorf("the mapping was read %d times by 3 calls", s.mappings)
			}
			s.mu.Unlock()
		}
	}
}

// TestRoutingThatIsNotOurs checks that an index that requires a routing without describing it accepts nothing, and that nothing is
// rejected.
func TestRoutingThatIsNotOurs(t *testing.T) {
	s := newServer(t)
	s.routing = &indexer.Routing{} // not a mapping of brine
	s.foreign = true
	failures := start(t, s, indexer.Whole, nil).write(t, orders()...)
	if len(failures) != len(orders()) {
		t.Fatalf("%d failures of %d", len(failures), len(orders()))
	}
	for _, f := range failures {
		if f.Verdict != event.Halt || !strings.Contains(f.Err.Error(), "brine reindex") {
			t.Errorf("verdict %v, error %v", f.Verdict, f.Err)
		}
	}
}

// TestNoRoutingIsAskedFor checks that a writer to an index without a routing never reads its mapping.
func TestNoRoutingIsAskedFor(t *testing.T) {
	s := newServer(t)
	if failures := start(t, s, indexer.Partial, nil).write(t, orders()...); len(failures) > 0 {
		t.Fatal(failures)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mappings != 0 {
		t.Errorf("the mapping was read %d times", s.mappings)
	}
}

// searched is a server with one routed index that records the parameters of searches.
type searched struct{ asked []url.Values }

func (s *searched) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"hits":{"hits":[]}}`
	switch {
	case strings.HasPrefix(r.URL.Path, "/_alias/"):
		body = `{"orders-000001":{}}`
	case strings.HasSuffix(r.URL.Path, "/_mapping"):
		body = `{"orders-000001":{"mappings":{"_meta":{"brine":{"routing":{"field":"user","from":"user","key":"user","types":{"user":"text"}}}},
			"properties":{"user":{"type":"keyword"},"status":{"type":"keyword"}}}}}`
	default:
		s.asked = append(s.asked, r.URL.Query())
	}
	return answered(r, http.StatusOK, strings.NewReader(body)), nil
}

// TestSearchAsksTheShardsOfItsValues checks that a search asks the shards of its values, and all of them whenever a match could be
// elsewhere.
func TestSearchAsksTheShardsOfItsValues(t *testing.T) {
	term := func(field string, v any) search.Clause { return search.Term{Field: field, Value: v} }
	terms := func(field string, v ...any) search.Clause { return search.Terms{Field: field, Values: v} }
	for _, c := range []struct {
		must, filter, not []search.Clause
		want              string
	}{
		{want: ""},
		{must: []search.Clause{term("user", "a")}, want: "a"},
		{filter: []search.Clause{term("status", "x"), term("user", "a b,c")}, want: "a+b%2Cc"},
		{filter: []search.Clause{term("user", "")}, want: "%"},
		{filter: []search.Clause{terms("user", "a", "b", ",")}, want: "a,b,%2C"},
		{filter: []search.Clause{terms("user", "a", "b")}, must: []search.Clause{term("user", "b")}, want: "b"},
		{not: []search.Clause{term("user", "a")}, want: ""},
		{filter: []search.Clause{search.Prefix{Field: "user", Prefix: "a"}, search.Range{Field: "user", From: "a"}}, want: ""},
		{filter: []search.Clause{term("status", "a")}, want: ""},
		{filter: []search.Clause{term("user", strings.Repeat("é", 500))}, want: ""}, // longer than a server's limit for a line
		{filter: []search.Clause{terms("user", slices.Repeat([]any{"sixteen letters."}, 200)...)}, want: ""},
	} {
		s := &searched{}
		e, err := elastic.Open(elastic.Options{Addresses: []string{"http://localhost:9200"}, Transport: s})
		if err != nil {
			t.Fatal(err)
		}
		q := search.Query{Index: "orders", Must: c.must, Filter: c.filter, MustNot: c.not}
		if _, err := e.Search(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if len(s.asked) != 1 || s.asked[0].Get("routing") != c.want || s.asked[0].Has("routing") != (c.want != "") {
			t.Errorf("%v %v: asked with %v, want %q", c.must, c.filter, s.asked, c.want)
		}
		e.Close()
	}
}

// mapping answers for the only index of a server.
func (s *server) mapping() []byte {
	s.mappings++
	mapping := map[string]any{"_routing": map[string]any{"required": true}}
	if !s.foreign {
		mapping["_meta"] = map[string]any{"brine": map[string]any{"routing": s.routing}}
	}
	return mustJSON(map[string]any{"orders-000001": map[string]any{"mappings": mapping}})
}

// place returns the key of a document: a document on two shards is two documents.
func (s *server) place(id, routing string) string {
	if s.routing == nil {
		return id
	}
	return id + "@" + routing
}

// unrouted returns the error of an item that lacks a required routing.
func (s *server) unrouted(id, routing string) map[string]any {
	if s.routing == nil || routing != "" {
		return nil
	}
	text, _ := json.Marshal(id)
	return map[string]any{"type": "routing_missing_exception", "reason": fmt.Sprintf("routing is required for [orders-000001]/[%s]", text)}
}
