package main

import (
	"errors"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/internal/sample"
)

// TestStopDrains: SIGTERM in mid-stream ends with 0, everything written is committed, and the next start writes only the rest.
func TestStopDrains(t *testing.T) {
	t.Parallel()
	var applied atomic.Int64
	servers, _ := ownStack(t, embedded.Options{Applied: func(embedded.Applied) { applied.Add(1) }})
	j := newJob(t, servers)
	j.replace("    topic: ", "    read: { rate: 500, max_batch_records: 200 }\n    topic: ") // slow enough to be stopped in the middle
	n := j.publish(first(sample.Scans(), 12_000))
	p := j.begin()
	p.until("scans.rows", 1)
	began := time.Now()
	p.stop()
	took := time.Since(began)
	written, left := int(applied.Load()), j.uncommitted("rows")
	t.Logf("stopped in %v: %d of %d records written, %d not committed", took.Round(time.Millisecond), written, n, left)
	if written == 0 || left == 0 {
		t.Fatal("it was not stopped in mid-stream: the test tried nothing")
	}
	if written+left != n {
		t.Errorf("%d rows are written and %d records not committed, of %d: what was settled is not what was committed", written, left, n)
	}
	j.replace("rate: 500, ", "")
	j.must("run", "-q", "-c", j.file, "--until-end")
	if again := int(applied.Load()) - n; again != 0 {
		t.Errorf("%d rows were written twice", again)
	}
	if got := scanTable(t, j.hbase, j.table); got.rows != n {
		t.Errorf("%d rows of %d events", got.rows, n)
	}
}

// silence makes a server answer no more writes. The returned channel receives the first one.
func silence(server *embedded.Server) (asked <-chan struct{}) {
	first := make(chan struct{}, 1)
	server.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		r.Keep()
		select {
		case first <- struct{}{}:
		default:
		}
		return &embedded.Outcome{Silent: true}
	})
	return first
}

// TestSecondSignalKills: a stop waits for a store that does not answer, but a second signal ends it at once. Nothing is committed that was
// not written.
func TestSecondSignalKills(t *testing.T) {
	t.Parallel()
	servers, server := ownStack(t, embedded.Options{})
	j := newJob(t, servers)
	asked := silence(server)
	n := j.publish(first(sample.Scans(), 1000))
	p := j.begin("BRINE_KAFKA_STOP_TIMEOUT=10m")
	<-asked
	p.signal()
	for {
		if ps := p.half("scans.rows").Partitions; len(ps) > 0 && ps[0].State == "draining" {
			break
		}
		wait(t, 10*time.Millisecond)
	}
	began := time.Now()
	p.signal()
	<-p.read
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("it ended with %v, want by the signal", err)
	}
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("the second signal took %v", took)
	}
	if left := j.uncommitted("rows"); left != n {
		t.Errorf("%d of %d records are not committed, and none was written", left, n)
	}
}

// TestStopIsBounded: a stop gives up on a store that does not answer after kafka.stop_timeout, and ends with 0.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	servers, server := ownStack(t, embedded.Options{})
	j := newJob(t, servers)
	j.replace("kafka:\n", "kafka:\n  stop_timeout: 1s\n")
	asked := silence(server)
	n := j.publish(first(sample.Scans(), 1000))
	p := j.begin()
	<-asked
	began := time.Now()
	p.stop()
	if took := time.Since(began); took < time.Second || took > 28*time.Second {
		t.Errorf("the stop took %v", took)
	}
	if left := j.uncommitted("rows"); left != n {
		t.Errorf("%d of %d records are not committed, and none was written", left, n)
	}
}
