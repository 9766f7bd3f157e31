package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestCheckKnowsHowLongRecordsAreKept checks that delete markers must outlast the records that could be replayed after them.
func TestCheckKnowsHowLongRecordsAreKept(t *testing.T) {
	t.Parallel()
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
    allowed_lateness: 1h
    rows: [ { table: "%[3]s", deleted: gone, hard_deletes: true, set: { "e:g": gone } } ]
`
			if err := os.WriteFile(j.file, fmt.Appendf(nil, config, j.brokers[0], j.hbase, j.table, j.topic), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := j.command("check", "--connect", j.file).CombinedOutput(); err == nil || !strings.Contains(string(out), "family e: hbase.hstore.time.to.purge.deletes is not set, but the configuration says 172800000") {
				t.Errorf("of a table that keeps no delete markers it says: %v, %s", err, out)
			}
			j.must("tables", "apply", "--yes", "-c", j.file)
			j.configure("message.timestamp.type", "LogAppendTime")
			j.configure("segment.ms", "3600000")
			for _, c := range []struct{ setting, value, want string }{ // 2d are 45h plus an hour each for segment, lateness and clocks
				{"retention.ms", "162000000", ""},
				{"retention.ms", "162000001", "can be read until 48h0m0.001s after its version"},
				{"retention.ms", "-1", "keeps its records forever, or compacts them; family e of"},
				{"retention.ms", "1000", ""},
				{"segment.ms", "604800000", "segment.ms 7d"},
				{"segment.ms", "3600000", ""},
				{"message.timestamp.type", "CreateTime", "has the producers' timestamps"},
				{"message.timestamp.type", "LogAppendTime", ""},
				{"cleanup.policy", "compact,delete", "keeps its records forever, or compacts them; family e of"},
			} {
				j.configure(c.setting, c.value)
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
