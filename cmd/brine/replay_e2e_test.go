package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/sample"
	"brine/service"
)

// TestReplayChangesNoCell replays a whole topic by offsets and by time, each twice and each killed in the middle. Afterwards the table is
// cell for cell as before, and the live group is where it was.
func TestReplayChangesNoCell(t *testing.T) {
	t.Parallel()
	const events = 20_000
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		began := time.Now()
		j.publish(first(sample.Scans(), events/2))
		wait(t, 5*time.Millisecond)
		middle := time.Now().UTC().Format(time.RFC3339Nano)
		wait(t, 5*time.Millisecond)
		j.publish(first(sample.Scans(), events))
		j.must("run", "-q", "-c", j.file, "--until-end")
		want := scanTable(t, j.hbase, j.table)
		if want.rows != events {
			t.Fatalf("the table has %d rows of %d events", want.rows, events)
		}
		live := j.live()
		same := func(what string) {
			t.Helper()
			if got := scanTable(t, j.hbase, j.table); got != want {
				t.Fatalf("after %s %v, before %v", what, got, want)
			}
			if now := j.live(); now != live {
				t.Fatalf("after %s the live group is at %v, before at %v", what, now, live)
			}
			t.Logf("after %s: %v, the live group at %v", what, want, live)
		}

		zero, end := make([]string, devPartitions), make([]string, devPartitions)
		for p, offset := range j.committed(j.groups()[0]) {
			zero[p], end[p] = fmt.Sprintf("%d:0", p), fmt.Sprintf("%d:%d", p, offset)
		}
		ranges := map[string][]string{
			"offsets": {"--from", strings.Join(zero, ","), "--to", strings.Join(end, ",")},
			"time":    {"--from", began.UTC().Format(time.RFC3339Nano), "--to", time.Now().UTC().Format(time.RFC3339Nano)},
		}
		for by, args := range ranges {
			j.replayKilled(300, by, args...)
			same("a replay by " + by + ", killed and resumed")
			if out := j.must(append([]string{"replay", "-c", j.file, "--name", by}, args...)...); !strings.Contains(out, "already done, up to the offsets above; --again starts over") {
				t.Errorf("a replay that is done does not say so:\n%s", out)
			}
			j.replayKilled(300, by, append(args, "--again")...)
			same("the same again, killed and resumed")
		}

		j.emptied()
		j.must("replay", "-c", j.file, "-q", "--from", middle)
		if got := scanTable(t, j.hbase, j.table); got.rows != events-events/2 {
			t.Errorf("a replay of the second half gives %v", got)
		}
		out := j.must("replay", "-c", j.file, "--from", "earliest", "--to", middle)
		same("two replays, half by half, into an empty table")
		t.Logf("the last one said:\n%s", out)
	})
}

// TestReplayOfOrdersChangesNothing does the same with rows in which several changes meet, and with their documents.
func TestReplayOfOrdersChangesNothing(t *testing.T) {
	t.Parallel()
	onStacks(t, ordersExample, func(t *testing.T, j *job) {
		n := j.publish(slices.Values(orderChanges()))
		j.must("run", "-q", "-c", j.file, "--until-end")
		want, live := j.outcome(), j.live()
		for _, again := range [][]string{{"--from", "earliest"}, {"--from", "earliest", "--again"}} {
			j.replayKilled(100, "whole", again...)
			j.expect(want)
		}
		if out := j.must("deadletters", "ls", "-c", j.file, "--all"); !strings.Contains(out, "0 dead letters of 0 records scanned in "+j.topic+".dead\n") {
			t.Errorf("records that are older than what is there have become dead letters:\n%s", out)
		}
		j.emptied()
		j.must("replay", "-c", j.file, "-q", "--half", "documents", "--from", "earliest")
		if docs := j.documents(); docs.String() != want.docs.String() {
			t.Errorf("a replay of the documents alone gives %v, expected %v", docs, want.docs)
		}
		if rows := scanTable(t, j.hbase, j.table); rows.rows != 0 {
			t.Errorf("a replay of the documents alone wrote %v", rows)
		}
		out := j.must("replay", "-c", j.file, "-q", "--half", "rows", "--from", "earliest")
		j.expect(want)
		t.Logf("%d changes; the last replay said:\n%s", n, out)
		if now := j.live(); now != live {
			t.Errorf("the live groups are at %v, before at %v", now, live)
		}
	})
}

// TestReplaySaysWhatIsMissing deletes records from the topic, and has one in it that cannot be written.
func TestReplaySaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		began := time.Now().UTC().Format(time.RFC3339)
		const events = 4000
		j.publish(first(sample.Scans(), events))
		j.send(3, "not json")
		j.must("run", "-q", "-c", j.file, "--until-end")
		want, live := scanTable(t, j.hbase, j.table), j.live()
		j.deleteRecords(1, 100)

		for _, r := range []struct{ from, says string }{
			{"0:0,1:0,2:0,3:0", "missing: partition 1: offsets 0 to 99 are no longer in the log"},
			{began, "missing: partition 1: offsets before 100 are no longer in the log; they may have been in the range"},
		} {
			out, code := j.exit("replay", "-c", j.file, "--from", r.from)
			if code != exitFailed || !strings.Contains(out, r.says) || !strings.Contains(out, "hint: --skip-missing replays what is left") {
				t.Errorf("--from %s: exit %d, expected %d and %q:\n%s", r.from, code, exitFailed, r.says, out)
			}
			out = j.must("replay", "-c", j.file, "--from", r.from, "--skip-missing", "--json")
			result := lastObject[service.ReplayResult](t, out)
			if result.Replayed != events+1-100 || result.Dead != 1 || !result.Finished {
				t.Errorf("--from %s: %+v, expected %d records and a dead letter", r.from, result, events+1-100)
			}
		}
		if got := scanTable(t, j.hbase, j.table); got != want {
			t.Errorf("the table is now %v, it was %v", got, want)
		}
		if now := j.live(); now != live {
			t.Errorf("the live group is at %v, before at %v", now, live)
		}
	})
}

// TestReplayStopsAndGoesOn asks a replay to stop.
func TestReplayStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.publish(first(sample.Scans(), 4000))
	args := []string{"replay", "-c", j.file, "--from", "earliest", "--json", "--rate", "100", "--name", "stop"}
	cmd := j.command(args...)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for !moves(nil, j.committed(j.name+".scans.rows.replay.stop")) {
		wait(t, time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(errOut.String(), "offsets left\nhint: the same command continues from there") {
		t.Errorf("exit %d, standard error %q", code, errOut.String())
	}
	result := lastObject[service.ReplayResult](t, j.must("replay", "-c", j.file, "--from", "earliest", "--json", "--name", "stop"))
	if result.Replayed == 0 || result.Replayed >= 4000 || !result.Finished {
		t.Errorf("%+v after the stop, expected the rest of 4000", result)
	}
	if got := scanTable(t, j.hbase, j.table); got.rows != 4000 {
		t.Errorf("%v after the stop, expected 4000 rows", got)
	}
	for _, refused := range []struct {
		code int
		args []string
	}{
		{exitMissing, []string{"--from", "0:0,9:0"}},
		{exitUsage, []string{"--from", "0:5", "--to", "0:5"}},
		{exitUsage, []string{"--from", "0:5", "--name", "stop"}},
	} {
		if out, code := j.exit(append([]string{"replay", "-c", j.file}, refused.args...)...); code != refused.code {
			t.Errorf("%v: exit %d, expected %d\n%s", refused.args, code, refused.code, out)
		}
	}
}
