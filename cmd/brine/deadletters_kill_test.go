package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestReplayOfDeadLettersGoesOnAfterAKill kills a replay of dead letters between two of its batches, and runs it again.
func TestReplayOfDeadLettersGoesOnAfterAKill(t *testing.T) {
	notShort(t)
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		// So many rejects in a minute would halt the half at the store; these are rejected before they get there.
		j.killReplay(500+100, 10, func(j *job) { j.replace("station: text", "station: int") }, "%d") // more than one batch
	})
}

// TestFixedReplayGoesOnAfterAKill replays 10,000 dead letters by a command that is killed and run again. Each is written at most once more.
func TestFixedReplayGoesOnAfterAKill(t *testing.T) {
	notShort(t)
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		j.replace("write: {", "halt_after_rejects: 0\n    write: {")
		j.killReplay(10_000, 200, func(*job) {}, `"S%d"`, "--let", `station = "S" + station.trim()`)
	})
}

// killReplay makes n dead letters, of stations that are numbers, fixes what rejected them, and kills a replay between two of its batches.
// The same command, run again, writes them all: cell for cell what a run makes of records whose stations are as calm writes their numbers.
func (j *job) killReplay(n, rate int, repair func(*job), calm string, args ...string) {
	j.t.Helper()
	scans := func(station string) (values [][]byte) {
		for i := range n {
			values = append(values, fmt.Appendf(nil, `{"waybill":"W%d","action":"A","at":%d,"station":`+station+`}`, i, 1357034220000+i, i))
		}
		return values
	}
	right := newJobOf(j.t, j.stack, j.example)
	repair(right)
	right.produce(2, scans(calm))
	right.must("run", "-q", "-c", right.file, "--until-end")
	want := scanTable(j.t, right.hbase, right.table)
	if want.rows != n || want.cells != n+n {
		j.t.Fatalf("a calm run of %d scans made %v", n, want)
	}

	j.produce(2, scans("%d"))
	j.must("run", "-q", "-c", j.file, "--until-end")
	repair(j)
	replay := append([]string{"deadletters", "replay", "-c", j.file, "-q"}, args...)
	cmd := j.command(append(replay, "--rate", fmt.Sprint(rate))...)
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	open := func() int {
		return strings.Count(j.output("deadletters", "ls", "-c", j.file, "--json", "--limit", "0"), "\n")
	}
	for open() == n {
		wait(j.t, 10*time.Millisecond)
	}
	kill(j.t, cmd)
	left := open()
	if left == 0 {
		j.t.Fatal("the kill came after everything had been written: the test tried nothing")
	}
	out := j.must(replay...)
	if got := scanTable(j.t, j.hbase, j.table); got != want || open() != 0 {
		j.t.Errorf("%v and %d open letters, expected %v and none; the last replay said\n%s", got, open(), want, out)
	}
	j.t.Logf("%d of %d letters were left by the kill", left, n)
}
