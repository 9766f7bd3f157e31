package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/hbase"
	"brine/service/testhbase"
)

// TestHBaseAlone starts brine hbase as a process, writes and reads a row, looks at what it costs, and ends it by SIGTERM; a second start on the
// same folder has the row.
func TestHBaseAlone(t *testing.T) {
	notShort(t)
	t.Parallel()
	dir := t.TempDir()
	for start := range 2 {
		began := time.Now()
		cmd, at := startHBase(t, "--port", "0", "--data", dir+"/data")
		ready := time.Since(began)
		used := processorTime(t, cmd.Process.Pid)
		client, err := hbase.Open(t.Context(), hbase.Options{Connect: at.Connect})
		if err != nil {
			t.Fatal(err)
		}
		if start == 0 {
			if err := client.CreateTable(t.Context(), hbase.Table{Name: "t", Families: []hbase.Family{{Name: "f"}}}, nil); err != nil {
				t.Fatal(err)
			}
			b := hbase.NewBatch("t")
			b.Mutate([]byte("r"))
			b.Put([]byte("f"), []byte("q"), 1, []byte("v"))
			if failed, err := client.Submit(t.Context(), b).Wait(t.Context()); err != nil || len(failed) > 0 {
				t.Fatal(failed, err)
			}
		}
		row, err := client.Get(t.Context(), "t", hbase.Get{Row: []byte("r")})
		if err != nil || len(row.Cells) != 1 {
			t.Errorf("start %d: the row has %d cells (%v)", start, len(row.Cells), err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		resident := residentMiB(t, cmd.Process.Pid)
		t.Logf("start %d: ready after %v, of which it used a processor for %v; %d MiB resident", start, ready.Round(time.Millisecond), used, resident)
		if used > time.Second { // time on a processor: other processes of the machine do not count, and 300 ms is what it is to be on an idle one
			t.Errorf("it used a processor for %v until it was ready", used)
		}
		if resident > 100 { // 60 is what it is to be; the test's own binary stands in for brine, and holds the tests too
			t.Errorf("%d MiB are resident when it is idle", resident)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("SIGTERM ends it with %v", err)
		}
	}
}

// startHBase starts brine hbase, and returns where it is reached.
func startHBase(t *testing.T, args ...string) (*exec.Cmd, testhbase.Addresses) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "brine", append([]string{"hbase", "--json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var at testhbase.Addresses
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&at); err != nil {
		t.Fatal(err)
	}
	return cmd, at
}

// processorTime is how long a process has used processors, in user and system mode.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Skipf("no /proc: %v", err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const user, system, tick = 11, 12, 10 * time.Millisecond // fields after the name; USER_HZ is 100
	var sum int
	for _, f := range []string{fields[user], fields[system]} {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return time.Duration(sum) * tick
}

// residentMiB is the memory of a process.
func residentMiB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Skipf("no /proc: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatalf("no VmRSS in %q", text)
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return n >> 10
}
