package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"brine/internal/sample"
)

// bufferedJob returns a job on the embedded stack that writes without autoflush.
func bufferedJob(t *testing.T, linger string) *job {
	t.Helper()
	j := newJob(t, embeddedStack(t))
	j.replace("write: { autoflush: true }", "write: { autoflush: false, linger: "+linger+" }")
	return j
}

// startAndSubmit starts brine and waits until it has handed some batches to the writer.
func (j *job) startAndSubmit() *exec.Cmd {
	j.t.Helper()
	cmd := j.command("run", "--json", "-c", j.file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		j.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	for lines := json.NewDecoder(out); ; {
		var r reading
		if err := lines.Decode(&r); err != nil {
			j.t.Fatalf("brine ended: %v", err)
		}
		if r.Batches >= devPartitions {
			return cmd
		}
	}
}

// TestKillLosesNothingThatIsHeldBack kills brine while its write buffer holds everything, then in mid-stream between two flushes. No offset
// was committed for unflushed events, so in the end every event is in the table.
func TestKillLosesNothingThatIsHeldBack(t *testing.T) {
	notShort(t)
	t.Parallel()   // most of it is waiting for the sessions of killed members to end
	const n = 4000 // per partition at most a window, in total less than a write buffer
	j := bufferedJob(t, "30s")
	j.shortSessions()
	j.publish(first(sample.Scans(), n))
	cmd := j.startAndSubmit()
	if got := scanTable(t, j.hbase, j.table); got.rows != 0 {
		t.Fatalf("%d rows were written before the linger was over", got.rows)
	}
	if left := j.uncommitted("rows"); left != n {
		t.Fatalf("%d of %d records are uncommitted though none is written", left, n)
	}
	kill(t, cmd)

	j.replace("linger: 30s", "linger: 200ms")
	const slow = "    read: { rate: 200, max_batch_records: 100 }\n"
	j.replace("    topic: ", slow+"    topic: ")
	cmd = j.command("run", "-q", "-c", j.file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	j.progress("rows", n)
	kill(t, cmd)
	left := j.uncommitted("rows")
	if left == 0 {
		t.Fatal("the kill came after everything had been committed")
	}

	j.replace(slow, "")
	j.must("run", "-q", "-c", j.file, "--until-end")
	want := undisturbed(t, first(sample.Scans(), n))
	if got := scanTable(t, j.hbase, j.table); got != want {
		t.Fatalf("after the kills %v, undisturbed %v", got, want)
	}
	t.Logf("%d and %d records were uncommitted at the kills: %v", n, left, want)
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

// TestStopFlushesWhatIsHeldBack stops a brine whose buffer would have waited half a minute.
func TestStopFlushesWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	const n = 4000
	j := bufferedJob(t, "30s")
	j.publish(first(sample.Scans(), n))
	cmd := j.startAndSubmit()
	start := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 25*time.Second {
		t.Errorf("the stop took %v", took)
	}
	got, left := scanTable(t, j.hbase, j.table), j.uncommitted("rows")
	if got.rows == 0 || got.rows != n-left {
		t.Errorf("%d rows are written, %d of %d records committed", got.rows, n-left, n)
	}
}
