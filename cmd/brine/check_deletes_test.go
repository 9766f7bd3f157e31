package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"
)

// TestCheckKnowsHowLongRecordsAreKept: delete markers have to outlast the records that could be replayed after them.
func TestCheckKnowsHowLongRecordsAreKept(t *testing.T) {
	for name, start := range map[string]func(*testing.T) stack{"embedded": embeddedStack, "real": realStack} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, start(t))
			config := `
kafka: { brokers: [%q] }
hbase: { connect: %q }
tables:
  %s: { row: entity, key: 'md5(id, 4) + id', families: { e: { purge_deletes_after: 2d } } }
pipelines:
  p:
    topic: %s
    fields: { id: text, at: time_ms, gone: bool }
    version: at
    rows: [ { table: "%[3]s", deleted: gone, hard_deletes: true, set: { "e:g": gone } } ]
`
			if err := os.WriteFile(j.file, fmt.Appendf(nil, config, j.brokers[0], j.hbase, j.table, j.topic), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := j.command("check", "--connect", j.file).CombinedOutput(); err == nil || !strings.Contains(string(out), "family e: hbase.hstore.time.to.purge.deletes is not set, the configuration says 172800000") {
				t.Errorf("of a table that keeps no delete markers it says: %v, %s", err, out)
			}
			j.must("tables", "apply", "--yes", "-c", j.file)
			for _, c := range []struct{ setting, value, want string }{
				{"retention.ms", "172800000", ""},
				{"retention.ms", "172800001", "keeps its records 48h0m0.001s, and family e of"},
				{"retention.ms", "-1", "keeps its records for ever, and family e of"},
				{"retention.ms", "1000", ""},
				{"cleanup.policy", "compact", "keeps its records for ever, and family e of"},
			} {
				r, err := j.client().IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{
					{ResourceType: kafka.ResourceTypeTopic, ResourceName: j.topic, Configs: []kafka.IncrementalAlterConfigsRequestConfig{
						{Name: c.setting, Value: c.value, ConfigOperation: kafka.ConfigOperationSet}}}}})
				if err != nil || r.Resources[0].Error != nil {
					t.Fatal(err, r)
				}
				out, err := j.command("check", "--connect", j.file).CombinedOutput()
				found := ""
				for line := range strings.Lines(string(out)) {
					if strings.Contains(line, "[deletes-outlived]") {
						found += line
					}
				}
				if (c.want == "") != (found == "") || !strings.Contains(found, c.want) || (err == nil) == (found != "") {
					t.Errorf("%s %s: %v, found %q in %s", c.setting, c.value, err, found, out)
				}
			}
		})
	}
}
