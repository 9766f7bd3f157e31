package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// devEvents is the number of events in the bundled samples, by half.
var devEvents = map[string]int64{"scans.rows": 57_794, "orders.rows": 7_855, "orders.documents": 7_855}

// devJSON runs brine dev --json with a temporary folder of its own until it ends, or stops it when done returns true. It returns the last
// line of each half, and the process's peak memory in bytes.
func devJSON(t *testing.T, done func(map[string]reading) bool, args ...string) (last map[string]reading, peak int64) {
	t.Helper()
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "brine", append([]string{"dev", "--json"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last = map[string]reading{}
	asked := false
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var r reading
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || r.Name == "" {
			t.Errorf("no JSON object of a half: %q: %v", lines.Text(), err)
			continue
		}
		last[r.Name] = r
		if !asked && done(last) {
			asked = true
			peak = peakMemory(t, cmd.Process.Pid)
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("brine dev %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", left, err)
	}
	return last, peak
}

func never(map[string]reading) bool { return false }

// settledAll reports whether all events of the samples, less those of an earlier start, are settled.
func settledAll(earlier map[string]reading) func(map[string]reading) bool {
	return func(last map[string]reading) bool {
		for half, n := range devEvents {
			if earlier[half].Events+last[half].Events < n {
				return false
			}
		}
		return true
	}
}

// peakMemory returns the largest resident set of a process so far, or 0 if the system does not report it.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}

// TestDevStopsByItself stops brine dev while it starts, while it publishes and when everything is done. It always ends with 0, soon, with
// only JSON objects on stdout, and without leaving its temporary folder.
func TestDevStopsByItself(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{time.Millisecond, 300 * time.Millisecond, 700 * time.Millisecond, 2 * time.Second} {
		began := time.Now()
		last, _ := devJSON(t, never, "--for", after.String())
		if took := time.Since(began) - after; took > 2*time.Minute {
			t.Errorf("--for %v: it ended %v too late", after, took)
		}
		t.Logf("--for %v: %d scans written", after, last["scans.rows"].Events)
	}
}

// TestDevGoesOnAfterAStop: a second start on the same folder writes only what the first one, stopped in the middle, had not written.
func TestDevGoesOnAfterAStop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before, _ := devJSON(t, never, "--for", "800ms", "--data", dir)
	after, _ := devJSON(t, settledAll(before), "--data", dir)
	for half, n := range devEvents {
		t.Logf("%s: %d and then %d events", half, before[half].Events, after[half].Events)
		if got := before[half].Events + after[half].Events; got != n {
			t.Errorf("%s settled %d events in two starts, want %d", half, got, n)
		}
	}
}
