package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/ingest"
	"brine/internal/testenv"
)

// process is a brine run that goes on until it is asked to stop.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	http string // its admin port
	log  testenv.Text
	read chan struct{} // closed when the log has ended
}

// begin runs the job's pipeline until it is stopped, with further settings from the environment.
func (j *job) begin(settings ...string) *process {
	j.t.Helper()
	cmd := j.command("run", "-q", "-c", j.file)
	cmd.Env = append(cmd.Env, settings...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		j.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	p := &process{t: j.t, cmd: cmd, read: make(chan struct{})}
	lines := bufio.NewReader(io.TeeReader(stderr, &p.log))
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			j.t.Fatalf("brine ended before it had an admin port: %v\n%s", err, &p.log)
		}
		if _, rest, ok := strings.Cut(line, "://"); ok {
			go func() { // ends with the process
				defer close(p.read)
				_, _ = io.Copy(io.Discard, lines)
			}()
			p.http, _, _ = strings.Cut(rest, " ")
			return p
		}
	}
}

// get sends a request to the admin port.
func (p *process) get(path string) (status int, body string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "http://"+p.http+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// metric returns the sum of a metric's series.
func (p *process) metric(name string) (total float64) {
	p.t.Helper()
	_, text := p.get("/metrics")
	for line := range strings.Lines(text) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if base, _, _ := strings.Cut(series, "{"); base != name {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			p.t.Fatalf("%s: %v", line, err)
		}
		total += v
	}
	return total
}

// half returns the status of one of the halves, as reported by /healthz.
func (p *process) half(name string) ingest.Status {
	p.t.Helper()
	_, body := p.get("/healthz")
	var health struct {
		Halves map[string]ingest.Status `json:"partitions"`
	}
	if err := json.Unmarshal([]byte(body), &health); err != nil {
		p.t.Fatal(err)
	}
	return health.Halves[name]
}

// settled returns the number of records below the watermarks of a half.
func (p *process) settled(half string) (n int) {
	p.t.Helper()
	for _, part := range p.half(half).Partitions {
		n += int(max(0, part.Watermark))
	}
	return n
}

// until waits until a half has settled at least n records, and returns how long that took.
func (p *process) until(half string, n int) time.Duration {
	p.t.Helper()
	start := time.Now()
	for p.settled(half) < n {
		if time.Since(start) > 5*time.Minute {
			p.t.Fatalf("%s has settled %d of %d records: %+v", half, p.settled(half), n, p.half(half))
		}
		wait(p.t, 20*time.Millisecond)
	}
	return time.Since(start)
}

// untilGeneration waits until a half is a member of this generation of its group, or of a later one.
func (p *process) untilGeneration(half string, generation int) {
	p.t.Helper()
	for p.half(half).Generation < generation {
		wait(p.t, 20*time.Millisecond)
	}
}

// signal sends the process SIGTERM.
func (p *process) signal() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
}

// stop asks the process to drain.
func (p *process) stop() {
	p.t.Helper()
	p.signal()
	<-p.read
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatalf("brine run: %v\n%s", err, &p.log)
	}
}
