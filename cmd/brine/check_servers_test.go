package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"brine/hbase/embedded"
)

// TestCheckKnowsTheServers checks that check finds servers with nothing to write: it asks the cluster for its live servers and, for an
// existing table, for its regions.
func TestCheckKnowsTheServers(t *testing.T) {
	t.Parallel()
	servers, _ := ownStack(t, embedded.Options{Servers: 3})
	j := newJob(t, servers)
	config := fmt.Sprintf(`
kafka: { brokers: [%q] }
hbase: { connect: %q }
tables:
  few: { row: entity, key: 'md5(id, 4) + id', families: { e: {} }, regions: 2 }
  salted: { row: entity, key: 'salt(2, id) + id', families: { e: {} }, regions: 2 }
  enough: { row: entity, key: 'md5(id, 4) + id', families: { e: {} }, regions: 3 }
pipelines:
  p:
    topic: %s
    fields: { id: text, at: time_ms, v: text }
    version: at
    rows: [ { table: few, set: { "e:v": v } }, { table: salted, set: { "e:v": v } }, { table: enough, set: { "e:v": v } } ]
`, servers.brokers[0], servers.hbase, j.topic)
	if err := os.WriteFile(j.file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	j.must("tables", "apply", "-c", j.file)
	j.wantServerFindings("tables.few: there are 3 servers, but 1 of them have nothing to write until regions split; start it with regions: 6 [key-few-regions]",
		"tables.salted: 2 buckets keep at most 2 servers busy, but there are 3; write salt(6, id) and regions: 6")
	j.must("regions", "split", "-c", j.file, "few", "8000", "--at", "c000", "--yes")
	j.wantServerFindings("tables.salted: ")
}

// wantServerFindings checks the number of findings about servers in check --connect, and that they contain these texts.
func (j *job) wantServerFindings(want ...string) {
	j.t.Helper()
	var lines []string
	for line := range strings.Lines(j.must("check", "--connect", j.file)) {
		if strings.Contains(line, "[key-few-") {
			lines = append(lines, line)
		}
	}
	for i := range want {
		if len(lines) != len(want) || !strings.Contains(lines[i], "warning: "+want[i]) {
			j.t.Fatalf("found %q\nwant %q", lines, want)
		}
	}
}
