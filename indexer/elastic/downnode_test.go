package elastic_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/elastic"
	"brine/indexer/indexertest"
	"brine/internal/testenv"
	"brine/search"
)

// twoNodes answers for two nodes, the first of which fails until it recovers.
type twoNodes struct {
	failing func(*http.Request) (*http.Response, error)
	well    time.Time
	to      [2][]time.Time // the times of the requests to each
}

func (n *twoNodes) RoundTrip(r *http.Request) (*http.Response, error) {
	at := 0
	if r.URL.Host == "second:9200" {
		at = 1
	}
	n.to[at] = append(n.to[at], time.Now())
	if at == 0 && time.Now().Before(n.well) {
		return n.failing(r)
	}
	return answered(r, http.StatusOK, strings.NewReader(`{"items":[{"index":{"_id":"a","status":200}}]}`)), nil
}

func answered(r *http.Request, status int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body), Request: r}
}

// TestFailingNodeIsLeftOutAndTriedAgain checks that a failing node is avoided for a minute, and then for longer, however it fails, and that
// it is used like the other once it recovers.
func TestFailingNodeIsLeftOutAndTriedAgain(t *testing.T) {
	for name, failing := range map[string]func(*http.Request) (*http.Response, error){
		"refuses": func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"freezes": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"answers half": func(r *http.Request) (*http.Response, error) {
			return answered(r, http.StatusOK, io.MultiReader(strings.NewReader(`{"items":[{"in`), errorReader{})), nil
		},
		"knows no master": func(r *http.Request) (*http.Response, error) {
			return answered(r, http.StatusServiceUnavailable, strings.NewReader(`{"error":{"type":"cluster_block_exception","reason":"no master"}}`)), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &twoNodes{failing: failing, well: time.Now().Add(10 * time.Minute)}
				e, err := elastic.Open(elastic.Options{Addresses: []string{"http://first:9200", "http://second:9200"}, Transport: n})
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				failed := 0
				for range 60 * 60 { // one call per second
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					err := e.Bulk(ctx, []indexer.Op{{Kind: indexer.Put, Index: "orders", ID: []byte("a"), Source: []byte("{}")}}, make([]indexer.Result, 1))
					cancel()
					if err != nil {
						failed++
					}
					time.Sleep(time.Second)
				}
				while := 0
				for _, at := range n.to[0] {
					if at.Before(n.well) {
						while++
					}
				}
				after := len(n.to[0]) - while
				if failed != while || while < 3 || while > 10 {
					t.Errorf("in ten minutes it was asked %d times, and %d calls failed; want each minute at most", while, failed)
				}
				if after < 500 {
					t.Errorf("once it was well it was asked %d times, the other %d", after, len(n.to[1]))
				}
			})
		})
	}
}

// TestSearchIsAskedOfAnotherNode checks that a search does not show that one of two nodes fails.
func TestSearchIsAskedOfAnotherNode(t *testing.T) {
	mapping := `{"orders-000001":{"mappings":{"_meta":{},"properties":{"status":{"type":"keyword"}}}}}`
	var mu sync.Mutex // an aborted call may still be counted when the next one arrives
	var asked, failed [2]int
	var servers []string
	down := 0
	for i := range asked {
		node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked[i]++
			fails := i == down
			if fails {
				failed[i]++
			}
			n := failed[i]
			mu.Unlock()
			if fails {
				if n%2 == 1 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			if strings.HasSuffix(r.URL.Path, "/_mapping") {
				_, _ = io.WriteString(w, mapping)
				return
			}
			_, _ = io.WriteString(w, `{"hits":{"total":{"value":0},"hits":[]}}`)
		}))
		t.Cleanup(node.Close)
		servers = append(servers, node.URL)
	}
	for down = range servers {
		for range 2 {
			e, err := elastic.Open(elastic.Options{Addresses: servers, Transport: &http.Transport{}})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, err := e.Search(t.Context(), search.Query{Index: "orders"}); err != nil {
					t.Errorf("node %d is down: %v", down, err)
				}
			}
			e.Close()
		}
		if failed[down] != 2 {
			t.Errorf("node %d failed %d calls, want one of each engine", down, failed[down])
		}
	}
	down = -1 // no node is down: a request that all refuse is made once
	e, err := elastic.Open(elastic.Options{Addresses: servers, Transport: refusing{&asked}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	asked = [2]int{}
	if _, err := e.Search(t.Context(), search.Query{Index: "orders"}); err == nil || asked[0]+asked[1] != 1 {
		t.Errorf("a question that is refused was asked %v times, error %v", asked, err)
	}
}

// refusing answers everything with 400.
type refusing struct{ asked *[2]int }

func (n refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	n.asked[0]++
	return answered(r, http.StatusBadRequest, strings.NewReader("{}")), nil
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestOneNodeOfRealElasticsearchIsDown checks that with one of two addresses out of order, every document arrives, and few calls are lost.
func TestOneNodeOfRealElasticsearchIsDown(t *testing.T) {
	const calls, batches, size = 3, 30, 100
	address := testenv.Elasticsearch(t)
	t.Parallel()
	t.Cleanup(func() { deleteIndexes(t, address, indexertest.Prefix+"nodes-") })
	real, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		failing func(http.ResponseWriter, *http.Request)
	}{
		{"none", nil},
		{"refuses", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"freezes", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}},
		{"answers half", func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			proxy(real).ServeHTTP(answer, r)
			body := answer.Body.Bytes()
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			_, _ = w.Write(body[:len(body)/2])
			panic(http.ErrAbortHandler)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked atomic.Int64
			node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if c.failing != nil {
					asked.Add(1)
					c.failing(w, r)
				}
				proxy(real).ServeHTTP(w, r)
			}))
			t.Cleanup(node.Close)
			opts := indexertest.Options(t, fmt.Sprintf("%snodes-%d", indexertest.Prefix, time.Now().UnixNano()), indexer.Whole)
			made := open(t, address)
			if err := made.EnsureIndex(t.Context(), opts.Mappings()[0]); err != nil {
				t.Fatal(err)
			}
			e, err := elastic.Open(elastic.Options{Addresses: []string{node.URL, address}, Transport: &http.Transport{}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			var lost, sent atomic.Int64
			opts.Calls, opts.CallTimeout, opts.RetryFor, opts.MaxBulkDocuments = calls, 15*time.Second, 5*time.Minute, size
			opts.Hooks.Call = func(i *indexer.CallInfo) {
				sent.Add(1)
				if i.Err != nil {
					lost.Add(1)
				}
			}
			w, err := indexer.New(e, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			began := time.Now()
			writeBatches(t, w, batches, size)
			took := time.Since(began).Round(time.Millisecond)
			if err := made.Refresh(t.Context(), opts.Documents[0].Index); err != nil {
				t.Fatal(err)
			}
			page, err := made.Search(t.Context(), search.Query{Index: opts.Documents[0].Index, Size: 1, Count: true})
			if err != nil || page.Total != batches*size {
				t.Errorf("%d documents, want %d, error %v", page.Total, batches*size, err)
			}
			t.Logf("%d documents in %v, %d of %d calls lost", page.Total, took, lost.Load(), sent.Load())
			most := calls * int64(1+took/time.Minute) // each lane finds out once, and the node is retried each minute
			if n := asked.Load(); c.failing != nil && (n < 1 || n > most) {
				t.Errorf("the failing node was asked %d times in %v, want one to %d", n, took, most)
			}
		})
	}
}

func proxy(to *url.URL) http.Handler {
	p := httputil.NewSingleHostReverseProxy(to)
	p.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	return p
}

// writeBatches writes new documents, with all batches in flight at once.
func writeBatches(t *testing.T, w *indexer.Writer, batches, size int) {
	t.Helper()
	var flights []event.Flight
	for b := range batches {
		batch := &event.Batch{}
		for i := range size {
			batch.Events = append(batch.Events, indexertest.Event(1, fmt.Sprintf("o%d-%d", b, i), "paid"))
		}
		flights = append(flights, w.Submit(t.Context(), batch))
	}
	for _, f := range flights {
		if failures, err := event.Settle(t.Context(), f); err != nil || len(failures) > 0 {
			t.Fatalf("failures %v, error %v", failures, err)
		}
	}
}
