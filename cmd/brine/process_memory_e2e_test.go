package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"brine/internal/sample"
)

// residentPages returns a process's resident memory, in KiB: its own (anonymous) pages, and those of files, which are its executable's.
func residentPages(pid int) (anonymous, file int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		for name, into := range map[string]*int{"RssAnon:": &anonymous, "RssFile:": &file} {
			if rest, ok := strings.CutPrefix(line, name); ok {
				_, _ = fmt.Sscan(rest, into)
			}
		}
	}
	return anonymous, file
}

// TestProcessStaysWithinItsMemory: a brine that reads a backlog as fast as it can never has more pages of its own than process_memory
// allows.
func TestProcessStaysWithinItsMemory(t *testing.T) {
	notShort(t)
	t.Parallel()
	if anonymous, _ := residentPages(os.Getpid()); anonymous == 0 {
		t.Skip("this system does not say what a process has in memory")
	}
	const limit = 64 // MiB
	j := newJob(t, embeddedStack(t))
	n := j.publish(first(sample.Scans(), sample.ScanCount))
	cmd := j.command("run", "-q", "-c", j.file, "--until-end")
	cmd.Env = append(cmd.Env, "BRINE_MEMORY=24MiB", fmt.Sprintf("BRINE_PROCESS_MEMORY=%dMiB", limit))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	most, files, looks := 0, 0, 0
	for tick := time.Tick(5 * time.Millisecond); ; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			if got := scanTable(t, j.hbase, j.table); got.rows != n {
				t.Errorf("%d rows of %d events", got.rows, n)
			}
			t.Logf("of its own %d MiB at most, and %d MiB of its executable, in %d looks", most>>10, files>>10, looks)
			if most == 0 || most > limit<<10 {
				t.Errorf("it had %d MiB of its own, and may have %d", most>>10, limit)
			}
			return
		case <-tick:
			anonymous, file := residentPages(cmd.Process.Pid)
			most, files, looks = max(most, anonymous), max(files, file), looks+1
		}
	}
}
