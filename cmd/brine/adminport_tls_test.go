package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/internal/certs/certstest"
	"brine/internal/sample"
)

// Only commands that have the configuration of a brine can reach its encrypted admin port.
func TestEncryptedAdminPort(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.publish(first(sample.Scans(), 1000))
	cert, key := certstest.New(t, "a").Issue(t, certstest.Leaf{})
	p := j.begin("BRINE_HTTP_TLS_CERT="+cert, "BRINE_HTTP_TLS_KEY="+key)
	defer p.stop()
	if !strings.Contains(p.log.String(), "https://"+p.http) {
		t.Errorf("the log has no https:// address: %s", &p.log)
	}
	for _, c := range []struct {
		env  []string
		says string
		code int
	}{
		{[]string{"BRINE_HTTP_TLS_CERT=" + cert, "BRINE_HTTP_TLS_KEY=" + key}, j.table, exitOK},
		{nil, "Client sent an HTTP request to an HTTPS server", exitFailed},
	} {
		cmd := j.command("skew", "-c", j.file)
		cmd.Env = append(append(cmd.Env, "BRINE_HTTP_LISTEN="+p.http), c.env...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("exit %d, want %d and %q:\n%s", code, c.code, c.says, out)
		}
	}
}

// A brine whose admin port is a Unix socket is reached there, by its configuration or by name.
func TestAdminPortOnASocket(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	dir, err := os.MkdirTemp("", "brine") //nolint:usetesting // a path of the test's own folder may be too long
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := "unix:" + filepath.Join(dir, "a.sock")
	cmd := j.command("run", "-q", "-c", j.file)
	cmd.Env = append(cmd.Env, "BRINE_HTTP_LISTEN="+socket)
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stderr).ReadString('\n'); err != nil || !strings.Contains(line, "metrics and health on "+socket+" ") {
		t.Errorf("%q %v", line, err)
	}
	if out := j.must("skew", "--http", socket); !strings.Contains(out, j.table) {
		t.Error(out)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
