package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// TestNumbersOfOffsetsSaySo: a lag and the progress of a replay count transaction markers too, which only reading the topic tells apart from
// records. So nothing calls them records.
func TestNumbersOfOffsetsSaySo(t *testing.T) {
	if line := (reading{Status: service.Status{Name: "scans.rows", Lag: 1234}}).line(); !strings.Contains(line, "  lag    1,234 offsets  ") {
		t.Errorf("the live line is %s", line)
	}
	progress := service.ReplayReading{Pipeline: "scans.rows", Partition: 2, Done: 1234, Left: 766}
	if line := replayLine(progress); !strings.Contains(line, " 1,234 of       2,000 offsets  ") {
		t.Errorf("the replay's line is %s", line)
	}
	if text, err := json.Marshal(progress); err != nil || strings.Contains(string(text), "records") {
		t.Errorf("the replay's object is %s, %v", text, err)
	}
	for _, command := range []string{"run", "ps", "top", "offsets show"} {
		_, help, _ := brine(t, append(strings.Fields(command), "--help")...)
		if !strings.Contains(strings.Join(strings.Fields(help), " "), "an upper bound of the records") {
			t.Errorf("brine %s --help does not say that the lag is an upper bound of the records:\n%s", command, help)
		}
	}
}

// TestMarkersAreNotRecords: what was published in transactions has more offsets than records, and a replay's result counts the records.
func TestMarkersAreNotRecords(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	file := filepath.Join(t.TempDir(), "scans.jsonl")
	var lines strings.Builder
	for i := range 30 {
		fmt.Fprintf(&lines, `{"waybill":"W%d","action":"A","at":1700000000000,"station":"X"}`+"\n", i)
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	j.must("publish", "-c", j.file, "--topic", j.topic, "--key", "waybill", file)
	j.must("run", "-q", "-c", j.file, "--until-end")
	out := j.must("replay", "-q", "-c", j.file, "--from", "earliest")
	most := regexp.MustCompile(`at most (\d+) records, `).FindStringSubmatch(out)
	if most == nil || most[1] <= "30" || len(most[1]) != 2 || !strings.Contains(out, "done: 30 records replayed in ") {
		t.Errorf("it says\n%s", out)
	}
	if shown := j.must("offsets", "show", "-c", j.file); !regexp.MustCompile(`(?m)^ +all +0$`).MatchString(shown) {
		t.Errorf("all is settled, markers included, but it shows\n%s", shown)
	}
}
