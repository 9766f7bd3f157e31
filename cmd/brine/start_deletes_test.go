package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// configure sets a setting of the job's topic.
func (j *job) configure(name, value string) {
	j.t.Helper()
	configureTopic(j.t, j.brokers, j.topic, name, value)
}

// TestNothingStartsThatForgetsDeletesTooEarly: every command that would write with such a setting refuses it as check does, with the same
// message.
func TestNothingStartsThatForgetsDeletesTooEarly(t *testing.T) {
	t.Parallel()
	const text = `
kafka: { brokers: [%q], group: %[4]s }
hbase: { connect: %[2]q }
search: { connect: %[3]q }
http: { listen: "127.0.0.1:0" }
tables:
  %[5]s: { row: entity, key: 'md5(id, 4) + id', families: { e: { purge_deletes_after: 2d } } }
indexes: { %[4]s: { %[7]s fields: { g: boolean } } }
pipelines:
  p:
    topic: %[4]s
    fields: { id: text, at: time_ms, gone: bool }
    version: at
    allowed_lateness: 1h
    rows: [ { table: "%[5]s", deleted: gone, %[6]s set: { "e:g": gone } } ]
    documents: [ { index: %[4]s, deleted: gone, set: { g: gone } } ]
`
	for _, c := range []struct{ name, row, index, setting, short string }{
		{"an index", "", "purge_deletes_after: 2d,", "indexes.", "the index keeps its deleted documents 2d"},
		{"a family", "hard_deletes: true,", "", "pipelines.p.rows[0].hard_deletes", "family e of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, embeddedStack(t))
			if err := os.WriteFile(j.file, fmt.Appendf(nil, text, j.brokers[0], j.hbase, j.search, j.name, j.table, c.row, c.index), 0o600); err != nil {
				t.Fatal(err)
			}
			j.must("tables", "apply", "--yes", "-c", j.file)
			j.send(0, fmt.Sprintf(`{"id":"a","at":%d,"gone":true}`, time.Now().UnixMilli()))
			j.configure("segment.ms", "3600000")
			starts := [][]string{
				{"run", "-q", "--until-end", "-c", j.file},
				{"replay", "-q", "--from", "earliest", "--again", "-c", j.file},
			}
			for _, kept := range []struct{ setting, value, says string }{ // 2d are 45h plus an hour each for segment, lateness and clocks
				{"retention.ms", "162000000", "producers' timestamps, which do not say how long a record can be read; " + c.short},
				{"message.timestamp.type", "LogAppendTime", ""},
				{"retention.ms", "162000001", "(retention.ms 45h0m0.001s, segment.ms 1h, allowed_lateness 1h, and an hour for clocks); " + c.short},
				{"retention.ms", "-1", "keeps its records forever, or compacts them; " + c.short},
			} {
				j.configure(kept.setting, kept.value)
				for _, start := range starts {
					if kept.says == "" {
						j.must(start...)
						continue
					}
					out, code := j.exit(start...)
					if code != exitUsage || !strings.Contains(out, c.setting) || !strings.Contains(out, kept.says) || !strings.Contains(out, "remove it") && !strings.Contains(out, "mark rows") {
						t.Errorf("%v of a topic of %s %s: exit %d, %s", start, kept.setting, kept.value, code, out)
					}
				}
			}
		})
	}
}
