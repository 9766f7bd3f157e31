package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/internal/sample"
)

// flipTables flips bytes all over the table files of an embedded HBase, except at their ends, which are read when they are opened.
func flipTables(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no table files: %v", err)
	}
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(file) / 8; i < len(file)*3/4; i += 100 {
			file[i] ^= 0xFF
		}
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// flipLargest flips bytes in the middle of the largest table file, which holds rows and nothing that is read when the folder is opened.
func flipLargest(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no table files: %v", err)
	}
	var largest []byte
	name := ""
	for _, n := range names {
		file, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(file) > len(largest) {
			name, largest = n, file
		}
	}
	for i := len(largest) / 3; i < len(largest)*2/3; i += 1000 {
		largest[i] ^= 0xFF
	}
	if err := os.WriteFile(name, largest, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRunEndsWhenItsStoreIsDamaged: a run whose embedded HBase finds a damaged table file ends, names the file and what can be done, and
// has the exit code for damaged data. It reads rows to look up fields that its events lack.
func TestRunEndsWhenItsStoreIsDamaged(t *testing.T) {
	t.Parallel()
	servers, dir := embeddedStack(t), t.TempDir()
	servers.hbase = "embedded:" + dir
	j := newJobOf(t, servers, statesExample)
	var created, changed [][]byte
	for i := range 5000 {
		order, at := rand.Text(), 1357034220000+i
		created = append(created, fmt.Appendf(nil, `{"order":%q,"user":%q,"created":%d,"at":%d,"status":"new"}`, order, rand.Text(), at, at))
		changed = append(changed, fmt.Appendf(nil, `{"order":%q,"at":%d,"status":"paid"}`, order, at+1))
	}
	j.publish(slices.Values(created))
	j.must("run", "-q", "-c", j.file, "--until-end")
	j.must("regions", "flush", "-c", j.file, j.table+"_ids")
	p := j.begin()
	flipTables(t, dir)
	j.publish(slices.Values(append(created, changed...))) // those already there are skipped
	<-p.read
	err := p.cmd.Wait()
	exited, ok := errors.AsType[*exec.ExitError](err)
	if said := p.log.String(); !ok || exited.ExitCode() != exitDamaged || !strings.Contains(said, "brine: embedded HBase: "+dir) || !strings.Contains(said, ".sst is damaged: ") ||
		!strings.Contains(said, "hint: brine dev --data DIR --repair") {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestCommandsEndWhenTheirStoreIsDamaged: every command that reads an embedded HBase ends when it finds a damaged table file, names it, and
// has the exit code for damaged data, not that of its timeout or of its findings so far.
func TestCommandsEndWhenTheirStoreIsDamaged(t *testing.T) {
	t.Parallel()
	servers, dir := embeddedStack(t), t.TempDir()
	servers.hbase = "embedded:" + dir
	j := newJob(t, servers)
	j.publish(first(sample.Scans(), 10_000))
	j.must("run", "-q", "-c", j.file, "--until-end")
	j.must("regions", "flush", "-c", j.file, j.table)
	p := j.begin() // a killed process leaves no record of the state of its files
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.read
	_ = p.cmd.Wait()
	flipLargest(t, dir)
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.CopyFS(damaged, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	spans := filepath.Join(t.TempDir(), "spans.jsonl")
	for _, c := range []struct{ args, env []string }{
		{[]string{"verify", "-q", "--full"}, nil},
		{[]string{"query", j.table, "--limit", "0", "--json"}, nil},
		{[]string{"query", j.table, "--limit", "0", "--json"}, []string{"BRINE_TRACING_TO=file:" + spans, "TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}},
	} {
		if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(damaged))); err != nil {
			t.Fatal(err)
		}
		cmd := j.command(append(c.args, "-c", j.file)...)
		cmd.Env = append(cmd.Environ(), c.env...)
		said, err := cmd.CombinedOutput()
		if exited, ok := errors.AsType[*exec.ExitError](err); !ok || exited.ExitCode() != exitDamaged || !strings.Contains(string(said), "brine: embedded HBase: "+dir) ||
			!strings.Contains(string(said), ".sst is damaged: ") || !strings.Contains(string(said), "hint: brine dev --data DIR --repair") {
			t.Errorf("%s: %v\n%s", c.args[0], err, said[max(0, len(said)-1000):])
		}
	}
}
