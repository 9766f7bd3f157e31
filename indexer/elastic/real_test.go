package elastic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/elastic"
	"brine/indexer/indexertest"
	"brine/internal/testenv"
)

func open(t testing.TB, address string) *elastic.Engine {
	t.Helper()
	e, err := elastic.Open(elastic.Options{Addresses: []string{address}, Replicas: elastic.NoReplicas})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestConformanceOfRealElasticsearch(t *testing.T) { conforms(t, testenv.Elasticsearch(t)) }

func TestConformanceOfRealElasticsearch9(t *testing.T) { conforms(t, testenv.Elasticsearch9(t)) }

func TestConformanceOfRealOpenSearch(t *testing.T) { conforms(t, testenv.OpenSearch(t)) }

func conforms(t *testing.T, address string) {
	t.Parallel()
	e := open(t, address)
	t.Cleanup(func() { deleteIndexes(t, address, indexertest.RunPrefix) })
	indexertest.Run(t, func(*testing.T) indexer.Engine { return e })
	t.Run("ThreeShards", func(t *testing.T) {
		e, err := elastic.Open(elastic.Options{Addresses: []string{address}, Replicas: elastic.NoReplicas, Shards: 3})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		indexertest.RunRouting(t, func(*testing.T) indexer.Engine { return e })
	})
}

// deleteIndexes deletes the indexes whose names begin with prefix: only a test's own, because other tests run at the same time.
func deleteIndexes(t testing.TB, address, prefix string) {
	resp, err := http.Get(address + "/" + prefix + "*/_settings?expand_wildcards=open,closed") // including those without an alias
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	var indexes map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&indexes); err != nil {
		t.Error(err)
	}
	for name := range indexes {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		req, _ := http.NewRequest("DELETE", address+"/"+name, nil)
		if resp, err := http.DefaultClient.Do(req); err != nil {
			t.Error(err)
		} else {
			resp.Body.Close()
		}
	}
}

// ask sends a request to a real server, and returns the status of its answer: one below 300, or a conflict.
func ask(t *testing.T, method, url, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 && resp.StatusCode != http.StatusConflict {
		t.Fatalf("%s %s: %s %s %v", method, url, resp.Status, text, err)
	}
	return resp.StatusCode
}

// BenchmarkRealElasticsearch measures one document of six fields, from its event until the server has acknowledged it, with batches of 500
// and several of them in flight.
func BenchmarkRealElasticsearch(b *testing.B) {
	address := testenv.Elasticsearch(b)
	e := open(b, address)
	b.Cleanup(func() { deleteIndexes(b, address, indexertest.Prefix+"bench-") })
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		b.Run(string(changes), func(b *testing.B) {
			opts := indexertest.Options(b, fmt.Sprintf("%sbench-%s-%d", indexertest.Prefix, changes, time.Now().UnixNano()), changes)
			if err := e.EnsureIndex(b.Context(), opts.Mappings()[0]); err != nil {
				b.Fatal(err)
			}
			w, err := indexer.New(e, opts)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			b.ResetTimer()
			var flights []event.Flight
			for i := 0; i < b.N; i += 500 {
				batch := &event.Batch{}
				for k := i; k < i+500; k++ {
					batch.Events = append(batch.Events, indexertest.Event(int64(k), fmt.Sprintf("order-%08d", k*7919%200_000), "paid",
						"red apple juice", k, float64(k)/4, false, 1700000000000+k))
				}
				flights = append(flights, w.Submit(b.Context(), batch))
			}
			for _, f := range flights {
				if failures, err := event.Settle(b.Context(), f); err != nil || len(failures) > 0 {
					b.Fatal(failures, err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}
