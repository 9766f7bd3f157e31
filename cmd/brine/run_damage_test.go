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
)

// flipTables flips bytes all over the table files of an embedded HBase, but for their ends, which are read as they are opened.
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

// TestRunEndsWhenItsStoreIsDamaged: a run whose embedded HBase finds a damaged table file ends, names the file and what can be done, and
// has the exit code for damaged data. It reads rows that its events lack fields of.
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
	j.publish(slices.Values(append(created, changed...))) // those that are there are passed over
	<-p.read
	err := p.cmd.Wait()
	exited, ok := errors.AsType[*exec.ExitError](err)
	if said := p.log.String(); !ok || exited.ExitCode() != exitDamaged || !strings.Contains(said, "brine: embedded HBase: "+dir) || !strings.Contains(said, ".sst is damaged: ") ||
		!strings.Contains(said, "hint: brine dev --data DIR --repair") {
		t.Errorf("%v\n%s", err, said)
	}
}
