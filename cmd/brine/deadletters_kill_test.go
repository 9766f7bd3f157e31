package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// TestReplayOfDeadLettersGoesOnAfterAKill kills a replay of letters between two of its batches, and begins it again.
func TestReplayOfDeadLettersGoesOnAfterAKill(t *testing.T) {
	notShort(t)
	t.Parallel()
	const n = 500 + 100 // more than are written at once
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		records := make([]kafka.Record, n)
		for i := range records {
			value := fmt.Appendf(nil, `{"waybill":"W%d","action":"A","at":%d,"station":%d}`, i, 1357034220000+i, i)
			records[i] = kafka.Record{Value: kafka.NewBytes(value), Time: time.Now()}
		}
		resp, err := j.client().Produce(t.Context(), &kafka.ProduceRequest{Topic: j.topic, Partition: 2, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...)})
		if err == nil {
			err = resp.Error
		}
		if err != nil {
			t.Fatal(err)
		}
		// So many rejects in a minute would halt the store's half; these are rejected before they come to it.
		j.must("run", "-q", "-c", j.file, "--until-end")
		j.replace("station: text", "station: int")
		cmd := j.command("deadletters", "replay", "-c", j.file, "--rate", "10")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		open := func() int {
			return strings.Count(j.output("deadletters", "ls", "-c", j.file, "--json", "--limit", "0"), "\n")
		}
		for open() == n {
			wait(t, 10*time.Millisecond)
		}
		kill(t, cmd)
		if left := open(); left == 0 {
			t.Fatal("the kill came after everything had been written: the test tried nothing")
		}
		out := j.must("deadletters", "replay", "-c", j.file)
		if got := scanTable(t, j.hbase, j.table); got.rows != n || open() != 0 {
			t.Errorf("%v and %d open letters, expected %d rows and none; the last replay said\n%s", got, open(), n, out)
		}
	})
}
