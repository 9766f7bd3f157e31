package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/event"
	"brine/hbase/embedded"
	"brine/ingest"
	"brine/internal/testenv"
)

// TestMaskedFieldIsShownNowhereInAnOutage: HBase and the index fail whatever they are sent, and quote it. Neither the log nor the admin port,
// ps or explain shows it, while brine keeps trying.
func TestMaskedFieldIsShownNowhereInAnOutage(t *testing.T) {
	t.Parallel()
	const phone = "13800138000"
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	broker := testenv.KafkaFake(t, devPartitions)
	j := newJobOf(t, stack{brokers: broker.ListenAddrs(), hbase: "rpc://" + server.Addr(), search: "embedded:" + filepath.Join(t.TempDir(), "search")}, ordersExample)
	j.replace("    rows:", "    mask: [payment, user, order]\n    rows:")
	j.replace("search:\n", "search:\n  pause: 20ms\n  max_pause: 200ms\n  retry_for: 1s\n")
	at := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	j.sendAll([]sent{{time: at, key: []byte(phone),
		value: fmt.Appendf(nil, `{"order":"%s7","user":%q,"created":%d,"at":%[3]d,"status":"paid","payment":%[2]q}`, phone, phone, at.UnixMilli())}})
	var refused atomic.Int64
	server.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		if !strings.Contains(strings.Join(r.Tables(), " "), j.table) {
			return nil
		}
		r.Keep()
		refused.Add(1)
		return &embedded.Outcome{Exception: &embedded.Exception{Class: "org.apache.hadoop.hbase.RegionTooBusyException",
			Message: fmt.Sprintf("row %q is in a busy region", r.Rows())}}
	})
	index := &quotingIndex{}
	s := httptest.NewServer(index)
	t.Cleanup(s.Close)

	p := j.begin("BRINE_SEARCH_CONNECT=" + s.URL)
	for start := time.Now(); !p.retries("orders.rows") || !p.retries("orders.documents") || !strings.Contains(p.log.String(), "answered RegionTooBusyException"); wait(t, 20*time.Millisecond) {
		if time.Since(start) > standstill {
			t.Fatalf("HBase has refused %d calls, the index %d: %+v\n%s", refused.Load(), index.refused.Load(), p.half("orders.documents"), &p.log)
		}
	}
	shown := map[string]string{}
	for _, path := range []string{"/healthz", "/metrics", "/debug/skew", "/readyz"} {
		_, shown[path] = p.get(path)
	}
	shown["ps"], _ = j.exit("ps", "--http", p.http)
	shown["ps --json"], _ = j.exit("ps", "--http", p.http, "--json")
	p.stop()
	shown["the log"] = p.log.String()
	for what, text := range shown {
		if i := strings.Index(text, phone[:8]); i >= 0 {
			t.Errorf("%s shows it: …%s…", what, text[max(0, i-300):min(len(text), i+100)])
		}
	}
	if health := shown["/healthz"]; !strings.Contains(health, "document ***: status 503: unavailable_shards_exception") {
		t.Errorf("health does not say what is wrong with the index: %s", health)
	}
	t.Logf("HBase refused %d calls, the index %d", refused.Load(), index.refused.Load())
}

// retries reports whether a partition of the half is being retried because its store is unavailable.
func (p *process) retries(half string) bool {
	for _, part := range p.half(half).Partitions {
		if part.State == ingest.Retrying && part.Reason == event.Unavailable && part.Detail != "" {
			return true
		}
	}
	return false
}

// quotingIndex is a search server that finds no documents, and refuses and quotes all that are written.
type quotingIndex struct{ refused atomic.Int64 }

func (q *quotingIndex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Elastic-Product", "Elasticsearch")
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.URL.Path == "/_mget":
		var asked struct {
			Docs []struct {
				ID string `json:"_id"`
			} `json:"docs"`
		}
		_ = json.Unmarshal(body, &asked)
		docs := []map[string]any{}
		for _, d := range asked.Docs {
			docs = append(docs, map[string]any{"_index": "orders", "_id": d.ID, "found": false})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"docs": docs})
	case strings.HasSuffix(r.URL.Path, "/_bulk"):
		q.refused.Add(1)
		items := []any{}
		for line := range strings.Lines(string(body)) {
			var action map[string]struct {
				ID string `json:"_id"`
			}
			if json.Unmarshal([]byte(line), &action) != nil {
				continue
			}
			for kind, on := range action {
				if kind == "create" || kind == "index" {
					items = append(items, map[string]any{kind: map[string]any{"_id": on.ID, "status": 503,
						"error": map[string]any{"type": "unavailable_shards_exception", "reason": "containing [" + string(body) + "]"}}})
				}
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"errors": true, "items": items})
	default:
		_, _ = w.Write([]byte(`{"version":{"number":"8.15.0"},"tagline":"You Know, for Search"}`))
	}
}
