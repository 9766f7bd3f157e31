package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/indexer"
)

// TestIndexInParts checks that the parts follow the event's field that fills the date, and end with the family that is kept longest.
func TestIndexInParts(t *testing.T) {
	const text = `
kafka: { brokers: [localhost:9092], group: brine }
hbase: { connect: "rpc://localhost:16000" }
search: { connect: "http://localhost:9200" }
tables:
  scans:
    row: event
    key: md5(waybill, 4) + waybill + "|" + desc(at, ms)
    families: { a: { ttl: 30d }, b: { ttl: TTL } }
indexes:
  scans: { fields: { waybill: keyword, when: date }, every: month, time: when }
pipelines:
  scans:
    topic: scans
    fields: { waybill: text, at: time_ms }
    version: at
    rows:
      - { table: scans, set: { "a:w": waybill, "b:w": waybill } }
    documents:
      - { index: scans, set: { waybill: waybill, when: at } }
`
	for ttl, want := range map[string]time.Duration{"92d": 92 * 24 * time.Hour, "1d": 30 * 24 * time.Hour, "0s": 0} {
		file := filepath.Join(t.TempDir(), "brine.yaml")
		body := strings.Replace(text, "TTL", ttl, 1)
		if ttl == "0s" {
			body = strings.Replace(text, "ttl: TTL", "versions: 1", 1)
		}
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, problems := Load(file, environ())
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		opts := cfg.Pipeline("scans").Indexer()
		if d := opts.Documents[0]; d.Every != indexer.Month || d.Time != "at" || d.Keep != want {
			t.Errorf("ttl %s: every %q of %q, kept %v; want month of at, %v", ttl, d.Every, d.Time, d.Keep, want)
		}
		if err := opts.Validate(); err != nil || opts.Mappings()[0].Every != indexer.Month {
			t.Errorf("mapping %v, error %v", opts.Mappings()[0], err)
		}
	}
}
