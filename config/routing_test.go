package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRouting checks that the documents' field, and the key field that fills it, become the index's routing. An embedded index has none.
func TestRouting(t *testing.T) {
	const text = `
kafka: { brokers: [localhost:9092], group: brine }
hbase: { connect: "rpc://localhost:16000" }
search: { connect: "CONNECT" }
tables:
  orders:
    row: entity
    key: md5(user, 2) + user + "|" + order
    families: { o: {} }
indexes:
  orders: { fields: { buyer: keyword, total: double }, routing: buyer }
pipelines:
  orders:
    topic: orders
    fields: { user: text, order: text, at: time_ms, total: float }
    version: at
    rows:
      - { table: orders, set: { "o:t": total } }
    documents:
      - { index: orders, set: { buyer: user, total: total } }
`
	for connect, routed := range map[string]bool{"http://localhost:9200": true, "embedded:./data": false} {
		file := filepath.Join(t.TempDir(), "brine.yaml")
		if err := os.WriteFile(file, []byte(strings.Replace(text, "CONNECT", connect, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, problems := Load(file, environ())
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		opts := cfg.Pipeline("orders").Indexer()
		if err := opts.Validate(); err != nil {
			t.Fatal(err)
		}
		got := opts.Mappings()[0].Routing
		if (got != nil) != routed || got != nil && (got.Field != "buyer" || got.From != "user" || !strings.Contains(got.Key, "md5(user, 2)")) {
			t.Errorf("%s: routed %v", connect, got)
		}
	}
}
