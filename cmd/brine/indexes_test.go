package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/hbase/embedded"
)

// searchIndex is what a search server reports for one of its indexes.
type searchIndex struct {
	Settings struct {
		Index map[string]any `json:"index"`
	} `json:"settings"`
	Mappings struct {
		Properties map[string]any `json:"properties"`
	} `json:"mappings"`
}

// searchServer serves indexes behind one name: each request returns all, and a PUT goes to all.
func searchServer(t *testing.T, indexes map[string]*searchIndex) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			var put struct{ Index, Properties map[string]any }
			if err := json.NewDecoder(r.Body).Decode(&put); err != nil {
				t.Error(err)
			}
			for _, x := range indexes {
				maps.Copy(x.Mappings.Properties, put.Properties)
				for key, value := range put.Index {
					x.Settings.Index[key] = fmt.Sprint(value)
				}
			}
		}
		_ = json.NewEncoder(w).Encode(indexes)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// searchPart has the fields id and v, and perhaps at.
func searchPart(refresh, replicas, shards string, at bool) *searchIndex {
	x := &searchIndex{}
	x.Settings.Index = map[string]any{"refresh_interval": refresh, "number_of_replicas": replicas, "number_of_shards": shards}
	x.Mappings.Properties = map[string]any{"id": map[string]any{"type": "keyword"}, "v": map[string]any{"type": "text"}}
	if at {
		x.Mappings.Properties["at"] = map[string]any{"type": "date"}
	}
	return x
}

// TestIndexesAreCompared: plan and check report the differences of the indexes. apply fixes those that can be fixed in place, and refuses
// the others with a fix.
func TestIndexesAreCompared(t *testing.T) {
	t.Parallel()
	search := searchServer(t, map[string]*searchIndex{
		"orders-2026.10-000001": searchPart("30s", "0", "1", true), "orders-2026.11-000001": searchPart("1000ms", "1", "2", true), "orders-2026.12-000001": searchPart("5s", "1", "5", false),
	})
	servers, _ := ownStack(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "brine.yaml")
	configure := func(replicas int, analyzer string) {
		t.Helper()
		config := fmt.Sprintf(`
kafka: { brokers: [%q] }
hbase: { connect: %q }
search: { connect: %q, shards: 5, replicas: %d, analyzer: %s }
tables:
  t: { row: entity, key: 'md5(id, 4) + id + "|" + asc(at, ms)', families: { e: {} } }
indexes:
  orders: { fields: { id: keyword, v: text, at: date }, every: month, time: at }
pipelines:
  p:
    topic: t
    fields: { id: text, at: time_ms, v: text }
    version: at
    changes: partial
    rows: [ { table: t, set: { "e:v": v } } ]
    documents: [ { index: orders, set: { id: id, v: v, at: at } } ]
`, servers.brokers[0], servers.hbase, search, replicas, analyzer)
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var shown strings.Builder
	brine := func(args ...string) {
		t.Helper()
		var out strings.Builder
		e := &env{ctx: t.Context(), stdout: &out, stderr: &out, getenv: func(string) (string, bool) { return "", false }}
		code := run(e, append(args, file))
		fmt.Fprintf(&shown, "$ brine %s brine.yaml: exit %d\n", strings.Join(args, " "), code)
		for line := range strings.Lines(strings.ReplaceAll(out.String(), file, "brine.yaml")) {
			if strings.Contains(line, "orders") || strings.Contains(line, "search.") {
				shown.WriteString(line)
			}
		}
	}
	configure(1, "standard")
	brine("tables", "plan", "-c")
	brine("check", "--connect")
	brine("tables", "apply", "--dry-run", "--json", "-c")
	brine("tables", "apply", "-c")
	brine("tables", "plan", "-c")
	configure(2, "standard")
	brine("tables", "plan", "-c")
	brine("tables", "apply", "-c")
	configure(2, "smartcn")
	brine("tables", "plan", "-c")
	brine("tables", "apply", "-c")
	brine("check", "--connect")
	golden(t, "indexes.txt", shown.String())
}
