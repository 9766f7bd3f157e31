package prometheus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a program that runs for a test. Its output is searched for the addresses on which it listens.
type process struct {
	name  string
	match *regexp.Regexp
	found chan []string

	mu     sync.Mutex
	output bytes.Buffer
	done   bool // found was sent
}

// run starts a program, which ends with the test, and waits until its output matches. It returns the groups.
func run(t *testing.T, match string, path string, args ...string) []string {
	t.Helper()
	p := &process{name: filepath.Base(path), match: regexp.MustCompile(match), found: make(chan []string, 1)}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdout, cmd.Stderr = p, p
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended }) // the test's context ends before its cleanups run
	go func() {
		err := <-exited
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.done {
			p.done = true
			fmt.Fprint(&p.output, "ended: ", err)
			close(p.found)
		}
		close(ended)
	}()
	groups, ok := <-p.found
	if !ok {
		t.Fatalf("%s did not say where it listens:\n%s", p.name, p.text())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s said:\n%s", p.name, p.text())
		}
	})
	return groups
}

// Write implements io.Writer.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.output.Write(b)
	if m := p.match.FindStringSubmatch(p.output.String()); m != nil && !p.done {
		p.done = true
		p.found <- m[1:]
	}
	return len(b), nil
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// server is a real Prometheus that runs our rules.
type server struct{ address, targets string }

const liveConfig = `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [%q]
scrape_configs:
  - job_name: brine
    file_sd_configs: [{ files: [%q] }]
`

// startPrometheus starts a Prometheus that scrapes nothing yet, so that it misses nothing of what starts after it.
func startPrometheus(t *testing.T) *server {
	t.Helper()
	path := tool(t, "prometheus")
	dir := t.TempDir()
	rules, err := filepath.Abs(ruleFiles)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{targets: filepath.Join(dir, "targets.json")}
	write(t, s.targets, "[]")
	config := filepath.Join(dir, "prometheus.yml")
	write(t, config, fmt.Sprintf(liveConfig, rules, s.targets))
	s.address = run(t, `msg="Listening on" address=(\S+)`, path, "--config.file="+config,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")[0]
	return s
}

// scrape makes Prometheus scrape these addresses from now on.
func (s *server) scrape(t *testing.T, addresses ...string) {
	t.Helper()
	text, err := json.Marshal([]map[string][]string{{"targets": addresses}})
	if err != nil {
		t.Fatal(err)
	}
	next := s.targets + ".tmp"
	write(t, next, string(text))
	if err := os.Rename(next, s.targets); err != nil { // atomically, so that no partial file is read
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// get queries Prometheus' API and decodes the data of its answer.
func (s *server) get(ctx context.Context, data any, path string, params url.Values) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/api/v1/"+path+"?"+params.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", resp.Status, err)
	}
	switch {
	case resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %s", errRefused, answer.Error)
	case answer.Status != "success":
		return fmt.Errorf("%s: %s", resp.Status, answer.Error)
	}
	return nil
}

// errRefused is about the query itself: a retry does not help.
var errRefused = errors.New("the query is refused")

// sample is one series of an instant query, and its value as text.
type sample struct {
	Metric map[string]string
	Value  [2]any // time and value
}

func (s *server) query(ctx context.Context, expr string) ([]sample, error) {
	var data struct{ Result []sample }
	err := s.get(ctx, &data, "query", url.Values{"query": {expr}})
	return data.Result, err
}
