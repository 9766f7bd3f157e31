package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/ingest"
	"brine/ingest/control"
	"brine/service/reload"
)

// TestReloadOfAProcess reloads a brine run by the command, by SIGHUP and by a change of its file, and has it refuse what it cannot do while
// running. It says so each time, and goes on with what it had.
func TestReloadOfAProcess(t *testing.T) {
	notShort(t)
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	p := j.begin()
	records := func(from, n int) {
		for i := from; i < from+n; i++ {
			j.send(i%devPartitions, fmt.Sprintf(`{"waybill":"W%05d","action":"in","station":"S","at":%d}`, i, time.Now().UnixMilli()))
		}
		p.until("scans.rows", from+n)
	}
	records(0, 20)
	ask := func(code int, args ...string) string {
		t.Helper()
		out, got := j.exit(append([]string{"reload", "--http", p.http}, args...)...)
		if got != code {
			t.Errorf("brine reload %v: exit %d, want %d:\n%s", args, got, code, out)
		}
		return out
	}
	if out := ask(exitOK); !strings.Contains(out, "nothing has changed") {
		t.Errorf("%s", out)
	}
	j.replace("    version: at", "    when: \"action != 'PING'\"\n    version: at")
	if out := ask(exitOK, "--dry-run"); !strings.Contains(out, "scans.rows  changes  pipelines.scans.when") || !strings.Contains(out, "could be applied") {
		t.Errorf("%s", out)
	}
	out := ask(exitOK, "--json")
	var r reload.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Outcome != reload.Applied || len(r.Onward) != devPartitions || r.Unrecorded != "" {
		t.Errorf("%+v, %v: %s", r, err, out)
	}
	for _, at := range r.Onward {
		want := fmt.Sprintf("  partition %d is written as configured at %s by ", at.Partition, r.At.UTC().Format(time.RFC3339))
		shown, _ := j.exit("offsets", "show", "-c", j.file)
		_, line, found := strings.Cut(shown, want)
		if line, _, _ = strings.Cut(line, "\n"); !found || !strings.HasSuffix(line, fmt.Sprintf(" from offset %d on", at.Offset)) {
			t.Errorf("offsets show lacks %q with offset %d:\n%s", want, at.Offset, shown)
		}
	}
	j.replace("key: md5(waybill, 4)", "key: md5(waybill, 6)")
	if said := ask(exitUsage); !strings.Contains(said, "tables."+j.table+".key is part of") || !strings.Contains(said, "hint: write a new table") {
		t.Errorf("%s", said)
	}
	j.replace("key: md5(waybill, 6)", "key: md5(waybill, 4)")
	j.replace("    version: at", "    version: nothing")
	if said := ask(exitUsage); !strings.Contains(said, "refused: the configuration is invalid") {
		t.Errorf("%s", said)
	}
	j.replace("    version: nothing", "    version: at")

	j.replace("    version: at", "    read: { window: 2 }\n    version: at")
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(standstill / 2); !strings.Contains(p.log.String(), `by="signal: hangup" result=applied`); wait(t, 20*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("SIGHUP has reloaded nothing:\n%s", &p.log)
		}
	}
	records(20, 20)
	p.stop()
	if log := p.log.String(); strings.Count(log, "audit: configuration reloaded") != 3 {
		t.Errorf("the log: %s", log)
	}
}

// TestOffsetsShowSaysUpToWhereBothMayHaveWritten writes the marks of a half with another filter, of which one follows a process that was
// killed, and checks what offsets show makes of them.
func TestOffsetsShowSaysUpToWhereBothMayHaveWritten(t *testing.T) {
	notShort(t)
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	topic := control.Open(control.Options{Kafka: ingest.Kafka{Brokers: j.brokers}, Topic: j.name + ".control"})
	defer topic.Close()
	at := time.Date(2026, 7, 1, 8, 0, 0, 0, time.UTC)
	mark := control.Mark{Group: j.name + ".scans.rows", Topic: j.topic, Offset: 1100, By: "a start", At: at}
	killed := mark
	killed.Partition, killed.Until = 1, 12345
	if err := topic.Mark(t.Context(), []control.Mark{mark, killed}); err != nil {
		t.Fatal(err)
	}
	shown := j.must("offsets", "show", "-c", j.file)
	for _, want := range []string{
		"  partition 0 is written as configured at 2026-07-01T08:00:00Z by a start from offset 1,100 on\n",
		"  partition 1 is written as configured at 2026-07-01T08:00:00Z by a start from offset 1,100 on; records before offset 12,345 may be " +
			"written with both configurations\n",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("offsets show lacks %q:\n%s", want, shown)
		}
	}
	shown = j.must("offsets", "show", "-c", j.file, "--json")
	for _, want := range []string{
		`"onward":{"offset":1100,"by":"a start","at":"2026-07-01T08:00:00Z"}`,
		`"onward":{"offset":1100,"until":12345,"by":"a start","at":"2026-07-01T08:00:00Z"}`,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("offsets show --json lacks %s:\n%s", want, shown)
		}
	}
}
