package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/testenv"
)

// TestJavaClientAgainstDev runs HBase's own Java client against a brine dev. It counts the rows of the sample, and goes through create with
// splits, list regions, put, get, scan, count, disable and drop, with the answers that a real HBase gave.
func TestJavaClientAgainstDev(t *testing.T) {
	t.Parallel()
	const suite = "../../hbase/hbasetest/"
	java := testenv.Java(t).Conform(t)
	hbasePort, httpPort := freePort(t), freePort(t)
	cmd := exec.CommandContext(t.Context(), "brine", "dev", "--json", "--hbase-port", hbasePort, "--http-port", httpPort)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("brine dev: %v", err)
		}
	}()
	connect := "rpc://127.0.0.1:" + hbasePort
	events, distinct := int64(0), map[string]bool{} // some generated scans come twice, and are one row
	for event := range bundledScans() {
		events++
		distinct[string(event)] = true
	}
	awaitSettled(t, "http://127.0.0.1:"+httpPort, events)

	out, err := java.Command(t, "RowDigest", connect, "logistics:scans").Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("rows=%d ", len(distinct)); !strings.HasPrefix(string(out), want) {
		t.Errorf("the Java client counts %s, want %s", out, want)
	}
	t.Logf("HBase's Java client on brine dev: %s", out)

	script := suite + "testdata/scripts/first.txt"
	out, err = java.Command(t, "Conform", connect, "dev_", script).Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := answers(t, script); string(out) != want {
		t.Errorf("the Java client's answers:\n%s\nwant:\n%s", out, want)
	}
}

// answers returns the output of the Java runner for a script whose answers all match.
func answers(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	n := 0
	for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
		n++
		line := lines.Text()
		if answer, ok := strings.CutPrefix(line, "  "); ok {
			b.WriteString(answer + "\n")
		} else if line != "" && line[0] != '#' {
			fmt.Fprintf(&b, "== first.txt %d\n", n)
		}
	}
	return b.String()
}

// freePort returns a port on which nobody listens at the moment.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// awaitSettled waits until scans.rows has settled this many offsets, according to /readyz.
func awaitSettled(t *testing.T, admin string, offsets int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), standstill)
	defer cancel()
	var settled int64
	for settled < offsets {
		if ctx.Err() != nil {
			t.Fatalf("%d of %d offsets are settled after %v", settled, offsets, standstill)
		}
		wait(t, 100*time.Millisecond)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, admin+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			continue // not listening yet
		}
		var health struct {
			Partitions map[string]struct {
				Partitions []struct{ Watermark int64 } `json:"partitions"`
			} `json:"partitions"`
		}
		err = json.NewDecoder(resp.Body).Decode(&health)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		settled = 0
		for _, p := range health.Partitions["scans.rows"].Partitions {
			settled += max(0, p.Watermark)
		}
	}
}
