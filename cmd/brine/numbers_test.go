package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"brine/internal/sample"
	"brine/service"
)

// TestTopOfNobodyFails: brine top --once prints what it knows, and fails if somebody does not answer.
func TestTopOfNobodyFails(t *testing.T) {
	code, _, stderr := brine(t, "top", "--http", "127.0.0.1:1", "--once", "--every", "1ms")
	if code != exitUnreachable || !strings.Contains(stderr, "127.0.0.1:1 does not answer: ") || !strings.Contains(stderr, "hint: ") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := brine(t, "top", "--http", skewedServer(t), "--once", "--every", "1ms"); code != exitUnreachable || !strings.Contains(stderr, "/debug/pipelines") {
		t.Errorf("of one that answers half: exit %d: %s", code, stderr)
	}
}

// TestDeadLettersOfNoReasonAreRefused: a reason that does not exist would list nothing.
func TestDeadLettersOfNoReasonAreRefused(t *testing.T) {
	code, _, stderr := brine(t, "deadletters", "ls", "-c", "../../examples/scans.yaml", "--reason", "missing_field,nosuch")
	want := `--reason "nosuch": no record is rejected for that reason; valid reasons are undecodable, unknown_schema, missing_field, wrong_type,`
	if code != exitUsage || !strings.Contains(stderr, want) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestLastProgressLineKnowsTheLag: a run that has settled everything ends with a lag of 0.
func TestLastProgressLineKnowsTheLag(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.publish(first(sample.Scans(), 500))
	var last reading
	for line := range strings.Lines(j.must("run", "-c", j.file, "--until-end", "--json")) {
		if strings.Contains(line, `"lag":`) {
			last = reading{}
			if err := json.Unmarshal([]byte(line), &last); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
	}
	if last.Lag != 0 || last.Events != 500 {
		t.Errorf("the last line is %+v", last)
	}
}

// TestReplayOfAKeySaysWhatWasReadAndReplayed: the records of other keys are read but not replayed.
func TestReplayOfAKeySaysWhatWasReadAndReplayed(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	for i := range 40 {
		j.sendKeyed(i%devPartitions, []byte{byte('a' + i%20)}, `{"waybill":"W","action":"A","at":1700000000000,"station":"X"}`, time.UnixMilli(1_700_000_000_000))
	}
	out := j.must("replay", "-q", "-c", j.file, "--from", "earliest", "--key", "b", "--name", "b")
	if !strings.Contains(out, "at most 40 records, ") || !strings.Contains(out, "done: 2 records of 40 read replayed in ") {
		t.Errorf("it says\n%s", out)
	}
	result := lastObject[service.ReplayResult](t, j.must("replay", "-q", "-c", j.file, "--from", "earliest", "--key", "b", "--name", "c", "--json"))
	if result.Read != 40 || result.Replayed != 2 {
		t.Errorf("%+v", result)
	}
}
