package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/serve"
	"brine/serve/client"
)

// TestJobs runs jobs in brine serve and compares their results with the output of the commands. Then it kills the server during a job, and
// stops it during one.
func TestJobs(t *testing.T) {
	t.Parallel()
	j := newShop(t, embeddedStack(t))
	j.withAccounts("")
	j.topic = j.name + ".scans"
	j.send(0, "not json")
	j.must("run", "-q", "-c", j.file, "--until-end")
	operator := &http.Client{Transport: signed(j.operator())}
	s := j.serve()
	ops := &client.Client{Base: s.ops, HTTP: operator}
	rows := client.HalvesOf{Half: "rows"} // the index is in the folder of one process
	for _, c := range []struct {
		args, kind string
		of         any
	}{
		{"verify --full -q --half rows", serve.VerifyJob, client.VerifyJob{HalvesOf: rows, Full: true}},
		{"verify --sample 10% -q --half rows --ahead", serve.VerifyJob, client.VerifyJob{HalvesOf: rows, Sample: "10%", Ahead: true}},
		{"replay --pipeline scans --half rows --from earliest --dry-run", serve.ReplayJob, client.ReplayJob{Pipeline: "scans", Half: "rows", From: "earliest", DryRun: true}},
		{"replay --pipeline scans --half rows --from earliest --diff 500", serve.ReplayJob, client.ReplayJob{Pipeline: "scans", Half: "rows", From: "earliest", Diff: 500}},
		{"deadletters ls --summary -q", serve.DeadLetterScanJob, client.DeadLetterScanJob{}},
		{"deadletters replay -q --half rows --dry-run", serve.DeadLetterReplayJob, client.DeadLetterReplayJob{DeadLettersOf: client.DeadLettersOf{Half: "rows"}, DryRun: true}},
		{"deadletters purge -q --older-than 1s --dry-run", serve.DeadLetterPurgeJob, client.DeadLetterPurgeJob{OlderThan: "1s", DryRun: true}},
	} {
		list := strings.Fields(c.args)
		want := objects(t, strings.Split(strings.TrimSpace(j.output(append(list, "--json", "-c", j.file)...)), "\n"))
		var got []string
		for _, r := range j.jobEnds(ops, c.kind, c.of).Results {
			got = append(got, string(r.Value))
		}
		if diff := cmp.Diff(want, objects(t, got)); diff != "" || len(want) == 0 {
			t.Errorf("brine %s (-command +job):\n%s", c.args, diff)
		}
	}
	slow := client.ReplayJob{Pipeline: "scans", Half: "rows", From: "earliest", Rate: 1, Name: "slow"}
	killed := j.jobRuns(ops, slow)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // it was killed
	s = j.serve()
	ops.Base = s.ops
	stopped := j.jobRuns(ops, slow) // continues where that one was
	j.interrupted(ops, killed)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-s.read
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &s.log)
	}
	s = j.serve()
	ops.Base = s.ops
	if job, err := ops.Job(t.Context(), stopped); err != nil || job.State != client.JobInterrupted || !strings.Contains(job.Detail, "offsets left") {
		t.Errorf("after a stop: %+v, %v", job, err)
	}
	if _, err := s.Views(t.Context()); err != nil {
		t.Error(err)
	}
	s.stop()
}

// objects returns lines of JSON without their durations.
func objects(t *testing.T, lines []string) (out []map[string]any) {
	t.Helper()
	for _, line := range lines {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		delete(o, "seconds")
		out = append(out, o)
	}
	return out
}

// jobEnds starts a job and waits for its end.
func (j *shopJob) jobEnds(ops *client.Client, kind string, of any) client.Job {
	j.t.Helper()
	job, err := ops.StartJob(j.t.Context(), kind, of, "")
	if err != nil {
		j.t.Fatal(err)
	}
	if err := ops.WatchJob(j.t.Context(), job.ID, func(client.Job) error { return nil }); err != nil {
		j.t.Fatal(err)
	}
	if job, err = ops.Job(j.t.Context(), job.ID); err != nil || job.State != client.JobDone {
		j.t.Fatalf("%+v, %v", job, err)
	}
	return job
}

// jobRuns starts a replay, and returns once it has done a part.
func (j *shopJob) jobRuns(ops *client.Client, of client.ReplayJob) string {
	j.t.Helper()
	job, err := ops.StartJob(j.t.Context(), serve.ReplayJob, of, "")
	if err != nil {
		j.t.Fatal(err)
	}
	for len(job.Progress) == 0 || job.Progress[0].Done == 0 {
		wait(j.t, 20*time.Millisecond)
		if job, err = ops.Job(j.t.Context(), job.ID); err != nil || job.HasEnded() {
			j.t.Fatalf("%+v, %v", job, err)
		}
	}
	return job.ID
}

// interrupted waits until a job of a killed brine is shown as interrupted.
func (j *shopJob) interrupted(ops *client.Client, id string) {
	j.t.Helper()
	for {
		job, err := ops.Job(j.t.Context(), id)
		if err != nil || job.HasEnded() && job.State != client.JobInterrupted {
			j.t.Fatalf("%+v, %v", job, err)
		}
		if job.State == client.JobInterrupted {
			return
		}
		wait(j.t, 100*time.Millisecond)
	}
}
