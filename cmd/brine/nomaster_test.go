package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/internal/sample"
)

// Without a master brine starts and writes, and says what it could not check. It still notices that a table is missing.
func TestRunsWithoutMaster(t *testing.T) {
	t.Parallel()
	servers, server := ownStack(t, embedded.Options{Servers: 2, DetectAfter: time.Millisecond})
	servers.hbase += "," + server.Nodes()[0].Addr() + "," + server.Nodes()[1].Addr()
	j := newJob(t, servers)
	n := j.publish(first(sample.Scans(), 200))
	server.Master().Kill()
	out, err := j.command("run", "-c", j.file, "--until-end").CombinedOutput()
	if err != nil || strings.Count(string(out), "cannot check the tables against the configuration") != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	if left := j.uncommitted("rows"); left != 0 {
		t.Errorf("%d of %d records are not committed", left, n)
	}
	if got := scanTable(t, j.hbase, j.table); got.rows == 0 {
		t.Error("no rows")
	}
	text, err := os.ReadFile(j.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(j.file, bytes.ReplaceAll(text, []byte(j.table), []byte(j.table+"x")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err = j.command("run", "-c", j.file, "--until-end").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "table "+j.table+"x does not exist") {
		t.Errorf("%v\n%s", err, out)
	}
}
