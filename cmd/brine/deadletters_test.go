package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/config"
	"brine/ingest/deadletter"
	"brine/internal/term"
	"brine/service/brokers"
	"brine/service/letters"

	"github.com/segmentio/kafka-go"
)

// TestDeadLettersAreListedShownAndReplayed sends records that cannot be written with the pipeline's declarations, fixes the declarations
// and replays them. They become the rows that they should have been, overwrite nothing newer, and are no longer listed.
func TestDeadLettersAreListedShownAndReplayed(t *testing.T) {
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		at := time.Now().Truncate(time.Millisecond)
		ms := at.UnixMilli()
		var records []sent
		add := func(partition int, key, format string, args ...any) {
			records = append(records, sent{partition: partition, time: at, key: []byte(key), value: fmt.Appendf(nil, format, args...),
				headers: []kafka.Header{{Key: "trace", Value: []byte{0xff, 1}}}})
		}
		add(0, "good", `{"waybill":"W0","action":"A","at":%d,"station":"X"}`, ms)
		add(0, "seconds", `{"waybill":"W1","action":"A","at":"%d","station":"old"}`, ms)       // a text where a time is declared
		add(0, "seconds", `{"waybill":"W2","action":"A","at":%d,"station":7}`, ms)             // a number where a text is
		add(1, "W3", `{"waybill":"W3","action":"A","at":%d,"station":7,"courier":"late"}`, ms) // the same, and W3 is written again below
		add(1, "not json", `{"waybill":`)
		j.sendAll(records)
		j.must("run", "-q", "-c", j.file, "--until-end")
		j.must("run", "-q", "-c", j.file, "--for", "1ms")

		list := j.must("deadletters", "ls", "-c", j.file)
		for _, want := range []string{"scans.rows", "0:1", "wrong_type", "station", "0:2", "1:0", "1:1", "undecodable", "not json",
			"4 dead letters of 4 records scanned in " + j.topic + ".dead\n"} {
			if !strings.Contains(list, want) {
				t.Errorf("ls lacks %q:\n%s", want, list)
			}
		}
		for _, f := range []struct {
			args []string
			n    int
		}{
			{[]string{"--reason", "wrong_type"}, 3}, {[]string{"--reason", "undecodable,too_large"}, 1}, {[]string{"--partition", "1"}, 2},
			{[]string{"--key", "seconds"}, 2}, {[]string{"--key", "none"}, 0}, {[]string{"--text", `"W2"`}, 1}, {[]string{"--half", "documents"}, 0},
			{[]string{"--half", "rows", "--pipeline", "scans"}, 4}, {[]string{"--since", "1h"}, 4}, {[]string{"--until", "1h"}, 0},
			{[]string{"--since", "2100-01-01"}, 0}, {[]string{"--text", "trace"}, 4},
		} {
			out := j.output(append([]string{"deadletters", "ls", "-c", j.file, "--json"}, f.args...)...)
			if n := strings.Count(out, "\n"); n != f.n {
				t.Errorf("ls %v: %d letters, expected %d:\n%s", f.args, n, f.n, out)
			}
		}
		j.pages(4)
		if out := j.must("deadletters", "ls", "-c", j.file, "--summary"); !strings.Contains(strings.Join(strings.Fields(out), " "), "scans.rows wrong_type station - 2 ") {
			t.Errorf("the summary is\n%s", out)
		}
		if out := j.output("deadletters", "show", "-c", j.file, "1:0", "--value"); out != string(records[3].value) {
			t.Errorf("show --value gives %q, expected %q", out, records[3].value)
		}
		shown := j.must("deadletters", "show", "-c", j.file, "1:0")
		for _, want := range []string{"record       " + j.topic + ", partition 1, offset 0", "reason       wrong_type", "field        station", `trace=\xff\x01`, "key          W3", `"courier": "late"`, "state        open"} {
			if !strings.Contains(shown, want) {
				t.Errorf("show lacks %q:\n%s", want, shown)
			}
		}
		if out, code := j.exit("deadletters", "show", "-c", j.file, "1:77"); code != exitFailed || !strings.Contains(out, "no dead letter of the record at 1:77") {
			t.Errorf("exit %d of a letter that is not there: %s", code, out)
		}

		// Nothing is fixed yet: all are rejected again, and the number of dead letters stays the same.
		if out, code := j.exit("deadletters", "replay", "-c", j.file); code != exitFailed || !strings.Contains(out, "4 records still cannot be written: undecodable 1, wrong_type 3") {
			t.Errorf("exit %d of a replay of what is not fixed:\n%s", code, out)
		}
		if out := j.must("deadletters", "ls", "-c", j.file); !strings.Contains(out, "4 dead letters of 4 records scanned") {
			t.Errorf("after a replay in vain:\n%s", out)
		}

		// Now any station is valid. A newer record of W3 has come in the meantime.
		j.replace("station: text", "station: json")
		j.sendAll([]sent{{partition: 1, time: at, value: fmt.Appendf(nil, `{"waybill":"W3","action":"A","at":%d,"station":"kept","courier":"new"}`, ms)}})
		j.must("run", "-q", "-c", j.file, "--until-end")
		before := scanTable(t, j.hbase, j.table)
		if out := j.must("deadletters", "replay", "-c", j.file, "--reason", "wrong_type", "--dry-run"); !strings.Contains(out, "scans.rows: 3 letters to replay") {
			t.Errorf("the dry run says\n%s", out)
		}
		if out := j.must("deadletters", "replay", "-c", j.file, "--reason", "wrong_type", "--key", "W3"); !strings.Contains(out, "scans.rows: 1 of 1 record written and marked as replayed") {
			t.Errorf("the replay says\n%s", out)
		}
		out, code := j.exit("deadletters", "replay", "-c", j.file, "--json")
		var result struct {
			Letters, Written int
			Rejected         map[string]int
		}
		if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):strings.Index(out, "}\n")+1]), &result); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if code != exitFailed || result.Letters != 3 || result.Written != 1 || result.Rejected["undecodable"] != 1 || result.Rejected["wrong_type"] != 1 {
			t.Errorf("exit %d of the replay of all: %+v", code, result)
		}
		after := scanTable(t, j.hbase, j.table)
		if after.rows != before.rows+1 {
			t.Errorf("%v after the replay, before %v: expected the row of W2 besides", after, before)
		}
		if out := j.must("deadletters", "ls", "-c", j.file, "--all"); !strings.Contains(out, "replayed 20") || !strings.Contains(out, "4 dead letters of 6 records scanned") {
			t.Errorf("ls --all:\n%s", out)
		}
		if out := j.must("deadletters", "ls", "-c", j.file); !strings.Contains(out, "2 dead letters of 6 records scanned") {
			t.Errorf("ls:\n%s", out)
		}
	})
}

// TestReplayedDeadLetterNeverOverwritesNewer replays a dead letter whose cells are older than those now in the row.
func TestReplayedDeadLetterNeverOverwritesNewer(t *testing.T) {
	t.Parallel()
	onStacks(t, ordersExample, func(t *testing.T, j *job) {
		at := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
		change := func(ms int64, status, payment string) sent {
			return sent{time: at, key: []byte("O1"), value: fmt.Appendf(nil, `{"order":"O1","user":"u1","created":%d,"at":%d,"status":%q,"payment":%s}`, at.UnixMilli(), ms, status, payment)}
		}
		j.sendAll([]sent{change(at.UnixMilli()+1, "paid", "7"), change(at.UnixMilli()+2, "shipped", `"card"`)})
		j.must("run", "-q", "-c", j.file, "--until-end")
		want := j.outcome()
		if out := j.output("deadletters", "ls", "-c", j.file, "--json"); strings.Count(out, "\n") != 2 {
			t.Fatalf("expected a letter of each half:\n%s", out)
		}
		j.replace("payment: text", "payment: json") // accepts any value
		if out, code := j.exit("deadletters", "replay", "-c", j.file, "--half", "rows"); code != exitOK {
			t.Fatalf("exit %d:\n%s", code, out)
		}
		shipped := j.must("query", "-c", j.file, j.table, "user=u1", "--json")
		if !strings.Contains(shipped, "shipped") || strings.Contains(shipped, "paid") {
			t.Errorf("the older change has overwritten the newer one: %s", shipped)
		}
		if rows := scanTable(t, j.hbase, j.table); rows.rows != want.rows.rows {
			t.Errorf("%v after the replay, %v before", rows, want.rows)
		}
		if out := j.output("deadletters", "ls", "-c", j.file, "--json"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "orders.documents") {
			t.Errorf("the letter of the other half is to stay:\n%s", out)
		}
	})
}

// pages reads all dead letters page by page, and expects each once.
func (j *job) pages(n int) {
	j.t.Helper()
	var seen []string
	for after := ""; ; {
		args := []string{"deadletters", "ls", "-c", j.file, "--limit", "1", "--json"}
		if after != "" {
			args = append(args, "--after", after)
		}
		var line struct{ Place string }
		out := j.output(args...)
		if strings.TrimSpace(out) == "" {
			break
		}
		if err := json.Unmarshal([]byte(out), &line); err != nil || slices.Contains(seen, line.Place) || len(seen) > n {
			j.t.Fatalf("page %d: %v: %s", len(seen), err, out)
		}
		seen, after = append(seen, line.Place), line.Place
	}
	for _, after := range []string{"nonsense", "3:4", "other.dead/0:0"} {
		if out, code := j.exit("deadletters", "ls", "-c", j.file, "--after", after); code != exitUsage || !strings.Contains(out, "--after") {
			j.t.Errorf("--after %s: exit %d: %s", after, code, out)
		}
	}
	if len(seen) != n {
		j.t.Errorf("%d letters page by page: %v, expected %d", len(seen), seen, n)
	}
}

// output runs a brine process that must succeed, and returns its stdout.
func (j *job) output(args ...string) string {
	j.t.Helper()
	cmd := j.command(args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		j.t.Fatalf("brine %s: %v\n%s%s", strings.Join(args, " "), err, out, &errs)
	}
	return string(out)
}

// Records with very deep nesting, tombstones and empty values: the dead letters distinguish them, in lines that people can read.
func TestDeadLettersOfDeepAndEmptyRecordsAreReadable(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	at := time.Now().Truncate(time.Millisecond)
	j.sendAll([]sent{
		{time: at, key: []byte("deep"), value: []byte(strings.Repeat(`{"`+strings.Repeat("é", 20)+`":`, 10_500))},
		{time: at, key: []byte("tombstone"), value: nil},
		{time: at, key: []byte("empty"), value: []byte{}},
		{time: at, key: []byte("surrogate"), value: []byte(`{"waybill":"\ud83dsecret"}`)},
	})
	j.must("run", "-q", "-c", j.file, "--until-end")
	list := j.must("deadletters", "ls", "-c", j.file)
	for line := range strings.Lines(list) {
		if term.Width(line) > 260 || strings.Contains(line, "secret") {
			t.Errorf("%d columns: %s", term.Width(line), line)
		}
	}
	for _, want := range []string{"the value is empty", "the record has no value: it is a tombstone", "half of a surrogate pair is missing at byte 12", "nested more than 10,000 levels deep"} {
		if !strings.Contains(list, want) {
			t.Errorf("ls lacks %q:\n%s", want, list)
		}
	}
	for _, args := range [][]string{{"ls", "--json"}, {"ls", "--summary"}, {"show", "0:0", "--json"}} {
		shown := j.must(append([]string{"deadletters", args[0], "-c", j.file}, args[1:]...)...)
		if field := strings.Repeat("é.", 100); strings.Contains(shown, field) || args[0] == "ls" && len(shown) > 4000 {
			t.Errorf("%v is %d bytes: %.500s", args, len(shown), shown)
		}
	}
	for _, l := range j.deadLetters() {
		if len(l.Field) > 200 {
			t.Errorf("a field of %d bytes", len(l.Field))
		}
	}
}

// TestDeadLettersOfAHalfThatIsGone checks that a replay leaves out dead letters of a half that the pipeline no longer has, and says so.
func TestDeadLettersOfAHalfThatIsGone(t *testing.T) {
	cfg, problems := config.Load("../../examples/orders.yaml", func(string) (string, bool) { return "", false })
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	p := cfg.Pipelines[0]
	p.Documents = nil
	scan, err := brokers.NewDeadLetters(t.Context(), cfg, "", "", deadletter.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	replay := &letters.Replay{Scan: scan, Letters: map[string]int{p.RowsGroup(): 1, p.DocumentsGroup(): 2}}
	replay.Sort()
	(&deadlettersReplayCmd{}).printCounts(&env{stderr: &said}, replay)
	if !slices.Equal(replay.Halves, []config.Half{{Pipeline: p, Kind: "rows"}}) {
		t.Error(replay.Halves)
	}
	if want := "ignoring 2 letters of group " + p.DocumentsGroup() + ", which this configuration does not have"; !strings.Contains(said.String(), want) {
		t.Errorf("said %q, expected %q", &said, want)
	}
}
