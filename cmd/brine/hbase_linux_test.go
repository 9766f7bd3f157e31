package main

import (
	"bufio"
	"encoding/json"
	"net/http"
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

// TestHBaseAlone starts brine hbase as a process, writes and reads a row, measures its costs, and ends it by SIGTERM. A second start on the
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
		if used > time.Second { // processor time, so other processes of the machine do not count; the goal on an idle machine is 300 ms
			t.Errorf("it used a processor for %v until it was ready", used)
		}
		if resident > 100 { // the goal is 60; the test's own binary stands in for brine, and contains the tests
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

// TestHBaseForOthers drives brine hbase from outside: it loads a table as text and dumps it again, and meets a fault injected over HTTP.
// Nobody injects one without the token.
func TestHBaseForOthers(t *testing.T) {
	notShort(t)
	t.Parallel()
	token := t.TempDir() + "/token"
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, at := startHBase(t, "--port", "0", "--faults", "127.0.0.1:0", "--faults-token-file", token)
	defer func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("SIGTERM ends it with %v", err)
		}
	}()
	const cells = `{"row":"o-1","family":"f","qualifier":"状态","timestamp":7,"type":"put","value":"paid\u009b"}
{"row":{"base64":"gP8B"},"family":"f","qualifier":"q","timestamp":8,"type":"delete-column"}
`
	brine := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "brine", append([]string{"hbase"}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("brine hbase %v: %v", args, err)
		}
		return string(out)
	}
	brine(`{"table":"orders","families":[{"name":"f"}],"splits":["m"]}`+"\n"+cells, "load", "--connect", at.Connect)
	file := t.TempDir() + "/brine.yaml" // of the whole configuration, only the HBase is needed
	if err := os.WriteFile(file, []byte("hbase: { connect: \""+at.Connect+"\" }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dumped := brine("", "dump", "orders", "-c", file)
	if _, got, _ := strings.Cut(dumped, "\n"); got != cells {
		t.Errorf("it is dumped as\n%swant\n%s", got, cells)
	}
	brine(dumped, "load", "--as", "copy", "--connect", at.Connect)
	if again := brine("", "dump", "copy", "--connect", at.Connect); strings.Replace(again, `"copy"`, `"orders"`, 1) != dumped {
		t.Errorf("the copy is\n%s", again)
	}
	for token, want := range map[string]int{"": http.StatusUnauthorized, "other": http.StatusUnauthorized, "secret": http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at.Faults+"/v1/faults", strings.NewReader(`{"call":"Get","table":"orders","fail":"DoNotRetryIOException"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("with the token %q: %d", token, answer.StatusCode)
		}
	}
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: at.Connect})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if _, err := client.Get(t.Context(), "orders", hbase.Get{Row: []byte("o-1")}); err == nil {
		t.Error("the fault was not met")
	}
	if _, err := client.Get(t.Context(), "orders", hbase.Get{Row: []byte("o-1")}); err != nil {
		t.Errorf("the fault was met twice: %v", err)
	}
}

// startHBase starts brine hbase, and returns its addresses.
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

// processorTime returns the processor time of a process, in user and system mode.
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

// residentMiB returns the resident memory of a process.
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
