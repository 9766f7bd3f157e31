package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/service"
)

// ran runs the job's pipelines to the end, which must have this exit code, and returns the summary of the rows' records.
func (j *job) ran(code int) (s service.Summary, out string) {
	j.t.Helper()
	out, got := j.exit("run", "-c", j.file, "--until-end", "--json")
	if got != code {
		j.t.Fatalf("brine run exits with %d, expected %d\n%s", got, code, out)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"result"`) && strings.Contains(line, `.rows"`) {
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				j.t.Fatalf("%q: %v", line, err)
			}
		}
	}
	return s, out
}

// TestRejectedRecordsHaltRunUntilThePipelineIsRight has a topic in which every record lacks a key field. Each run halts with exit code 9
// and gives the reason. Once the pipeline is right, run writes what was not committed.
func TestRejectedRecordsHaltRunUntilThePipelineIsRight(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	const records = 300
	for i := range records {
		j.sendAt(i%devPartitions, fmt.Sprintf(`{"parcel":"W%d","action":"A","at":1700000000000,"station":"X"}`, i), time.UnixMilli(1_700_000_000_000))
	}
	j.replace("    topic: "+j.topic, "    halt_after_rejects: 120\n    read: { max_batch_records: 10 }\n    topic: "+j.topic)
	for range 3 {
		s, out := j.ran(exitRejected)
		if s.Result != "all_rejected" || s.Written != 0 || s.Dead >= 120 || !strings.Contains(s.Halted, "missing_field") || !strings.Contains(out, "hint: ") {
			t.Fatalf("summary %+v\n%s", s, out)
		}
	}
	if left := j.uncommitted("rows"); left <= records-120 {
		t.Errorf("%d of %d records are not committed", left, records)
	}
	p := j.begin()
	p.health("/healthz", 503, "all_rejected")
	p.signal()
	<-p.read
	if err := p.cmd.Wait(); err == nil || p.cmd.ProcessState.ExitCode() != exitRejected {
		t.Errorf("stopped, it exits with %v", err)
	}

	j.replace("waybill: text", "waybill: { type: text, path: parcel }")
	s, out := j.ran(0)
	if s.Result != "done" || s.Written == 0 || s.Written <= records-120 || s.Dead != 0 || j.uncommitted("rows") != 0 {
		t.Errorf("once the pipeline is right: summary %+v\n%s", s, out)
	}
}

// TestRunEndsWithWhatBecameOfTheRecords also checks that verify counts the dead letters separately from what is missing.
func TestRunEndsWithWhatBecameOfTheRecords(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	at := time.UnixMilli(1_700_000_000_000)
	j.replace("    topic: "+j.topic, "    halt_after_rejects: 0\n    topic: "+j.topic)
	for i := range 40 {
		j.sendAt(i%devPartitions, `no json`, at)
		j.sendAt(i%devPartitions, `{"action":"A","at":1700000000000,"station":"X"}`, at)
	}
	j.sendAt(0, `{"waybill":"W","action":"A","at":1700000000000,"station":"X"}`, at)
	out, code := j.exit("run", "-q", "-c", j.file, "--until-end")
	want := "scans.rows: 1 record written, 80 dead letters (missing_field 40, undecodable 40), 0 left out\n"
	if code != 0 || !strings.Contains(out, want) {
		t.Errorf("brine run exits with %d and says\n%sexpected\n%s", code, out, want)
	}
	if out := j.must("verify", "-c", j.file, "-q", "--full"); !strings.Contains(out, "or lost; dead letters: 80\n") {
		t.Errorf("verify does not count the dead letters:\n%s", out)
	}
}
