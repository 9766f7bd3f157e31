package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// TestReplayOfDeadLettersGoesOnAfterAKill kills a replay of dead letters between two of its batches, and runs it again.
func TestReplayOfDeadLettersGoesOnAfterAKill(t *testing.T) {
	notShort(t)
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		// So many rejects in a minute would halt the half at the store; these are rejected before they get there.
		j.killReplay(500+100, 10, func() { j.replace("station: text", "station: int") }) // more than one batch
	})
}

// TestFixedReplayGoesOnAfterAKill replays 10,000 dead letters by a command that is killed and run again. Each is written at most once more.
func TestFixedReplayGoesOnAfterAKill(t *testing.T) {
	notShort(t)
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		j.replace("write: {", "halt_after_rejects: 0\n    write: {")
		j.killReplay(10_000, 200, func() {}, "--let", `station = "S" + station.trim()`)
	})
}

// killReplay makes n dead letters, of stations that are numbers, fixes what rejected them, and kills a replay between two of its batches.
// The same command, run again, writes them all.
func (j *job) killReplay(n, rate int, repair func(), args ...string) {
	j.t.Helper()
	records := make([]kafka.Record, n)
	for i := range records {
		value := fmt.Appendf(nil, `{"waybill":"W%d","action":"A","at":%d,"station":%d}`, i, 1357034220000+i, i)
		records[i] = kafka.Record{Value: kafka.NewBytes(value), Time: time.Now()}
	}
	resp, err := j.client().Produce(j.t.Context(), &kafka.ProduceRequest{Topic: j.topic, Partition: 2, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...)})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		j.t.Fatal(err)
	}
	j.must("run", "-q", "-c", j.file, "--until-end")
	repair()
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
	if got := scanTable(j.t, j.hbase, j.table); got.rows != n || open() != 0 {
		j.t.Errorf("%v and %d open letters, expected %d rows and none; the last replay said\n%s", got, open(), n, out)
	}
	j.t.Logf("%d of %d letters were left by the kill", left, n)
}
