package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/internal/sample"
	"brine/internal/testenv"
)

// ownStack is a stack whose HBase the test can disturb.
func ownStack(t *testing.T, opts embedded.Options) (stack, *embedded.Server) {
	t.Helper()
	broker := testenv.KafkaFake(t, devPartitions)
	server, err := embedded.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return stack{brokers: broker.ListenAddrs(), hbase: "rpc://" + server.Addr(), search: "embedded:" + t.TempDir()}, server
}

// health asks /healthz or /readyz until it answers with this status and with such a reason.
func (p *process) health(path string, status int, reason string) {
	p.t.Helper()
	like := regexp.MustCompile(reason)
	for start := time.Now(); ; wait(p.t, 20*time.Millisecond) {
		code, body := p.get(path)
		if code == status {
			var health struct {
				OK     bool
				Reason string
			}
			if err := json.Unmarshal([]byte(body), &health); err != nil || health.OK != (code == http.StatusOK) {
				p.t.Fatalf("%s: %v: %s", path, err, body)
			}
			if like.MatchString(health.Reason) {
				return
			}
		}
		if time.Since(start) > standstill {
			p.t.Fatalf("%s is still %d, want %d with a reason like %q: %s", path, code, status, reason, body)
		}
	}
}

// TestHealthIsProgress: if HBase is silent or gone, /healthz names the halted partitions and the reason after the stall time, and recovers
// with HBase. That the process runs, or that its lag is small, is not health.
func TestHealthIsProgress(t *testing.T) {
	t.Parallel()
	settings := []string{"BRINE_HTTP_STALL=300ms", "BRINE_HBASE_PAUSE=20ms"}
	check := func(t *testing.T, p *process, n int, reason string, fix func()) {
		t.Helper()
		for _, path := range []string{"/healthz", "/readyz"} {
			p.health(path, http.StatusServiceUnavailable, reason)
		}
		fix()
		p.until("scans.rows", n)
		p.health("/healthz", http.StatusOK, "")
		p.health("/readyz", http.StatusOK, "")
		p.stop()
	}
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		servers, server := ownStack(t, embedded.Options{})
		j := newJob(t, servers)
		p := j.begin(settings...)
		p.health("/readyz", http.StatusOK, "") // nothing to do is healthy
		answer := make(chan struct{})
		remove := server.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
			r.Keep()
			return &embedded.Outcome{Until: answer}
		})
		n := j.publish(first(sample.Scans(), 1000))
		check(t, p, n, `scans.rows: partition \d is running at offset 0, \d+ offsets? behind, for \d+s: the writer has not settled what it received`, func() {
			remove()
			close(answer)
		})
	})
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		opts := embedded.Options{Dir: t.TempDir()}
		servers, server := ownStack(t, opts)
		j := newJob(t, servers)
		p := j.begin(settings...)
		p.health("/readyz", http.StatusOK, "")
		opts.Addr = server.Addr()
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
		release := keepPort(t, opts.Addr)
		n := j.publish(first(sample.Scans(), 1000))
		check(t, p, n, `scans.rows: partition \d is retrying at offset 0, .*: unavailable: part of the store is failing .*; last retry because of connection`, func() {
			release()
			again, err := embedded.Start(opts)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { again.Close() })
		})
	})
	t.Run("denied", func(t *testing.T) {
		t.Parallel()
		servers, server := ownStack(t, embedded.Options{})
		j := newJob(t, servers)
		p := j.begin() // no stall time: a halt is reported at once
		p.health("/readyz", http.StatusOK, "")
		server.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
			r.Keep()
			return &embedded.Outcome{Exception: &embedded.Exception{Class: "org.apache.hadoop.hbase.security.AccessDeniedException", Message: "no", DoNotRetry: true}}
		})
		n := j.publish(first(sample.Scans(), 1000))
		p.health("/healthz", http.StatusServiceUnavailable, `scans.rows: partition \d is halted at offset 0, \d+ offsets? behind, for \d+s: denied: .*AccessDenied`)
		p.stop()
		if left := j.uncommitted("rows"); left != n {
			t.Errorf("%d of %d records are not committed after a halt and a stop", left, n)
		}
	})
}
