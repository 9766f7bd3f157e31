package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestRunServes: brine run --serve runs the pipelines and answers users and operators, from its first line to its end. It does not serve a
// part of the pipelines.
func TestRunServes(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	if out, code := j.exit("run", "-q", "-c", j.file, "--serve", "--pipeline", "scans", "--until-end"); code != exitUsage || !strings.Contains(out, "remove --pipeline") {
		t.Errorf("exit %d: %s", code, out)
	}
	cmd := j.command("run", "-q", "-c", j.file, "--serve")
	cmd.Env = append(cmd.Env, "BRINE_SERVE_LISTEN=127.0.0.1:0", "BRINE_SERVE_OPS_LISTEN=127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, read: make(chan struct{})}
	at := map[string]string{}
	lines := bufio.NewReader(io.TeeReader(stderr, &p.log))
	for len(at) < 3 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("brine ended before it served: %v\n%s", err, &p.log)
		}
		for _, of := range []string{"metrics and health on ", "operators' port on ", "serving "} {
			if _, url, ok := strings.Cut(line, "brine: "+of); ok {
				url, _, _ = strings.Cut(strings.TrimSpace(url), " ")
				at[of] = strings.TrimSuffix(url, "/api/v1/docs")
			}
		}
	}
	go func() { // ends with the process
		defer close(p.read)
		_, _ = io.Copy(io.Discard, lines)
	}()
	p.http = strings.TrimPrefix(at["metrics and health on "], "http://")
	j.send(0, `{"waybill":"W1","action":"in","station":"S","at":1700000000000}`)
	p.until("scans.rows", 1)
	for _, url := range []string{at["serving "] + "/api/v1/tables/" + j.table + "/rows?waybill=W1&at=2023-11-14T22:13:20Z&action=in", at["operators' port on "] + "/api/v1/ops/pipelines/scans",
		at["serving "] + "/"} {
		resp, err := http.Get(url) //nolint:noctx // the server's process ends with the test
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "W1") && !strings.Contains(string(body), `"here":true`) && !strings.Contains(string(body), "<!doctype html>") {
			t.Errorf("%s: %d %s %v", url, resp.StatusCode, body, err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	p.stop()
}
