package ingest

import (
	"strings"
	"testing"
	"time"

	"brine/event"
)

func TestDefaultsAreValid(t *testing.T) {
	o := Options{Kafka: Kafka{Brokers: []string{"localhost:9092"}}, Topic: "t", Group: "g", Schema: schema, Writer: newStore()}
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	if o.DeadLetterTopic != "t.dead" || o.Budget.Size() != 64<<20 {
		t.Errorf("options %+v", o)
	}
}

func TestFaultsAreReportedAllAtOnce(t *testing.T) {
	o := Options{
		Topic: "t", DeadLetterTopic: "t", OutOfRange: "skip", Start: Offsets(map[int]int64{0: 1}),
		Schema:         event.Schema{Fields: []event.Field{{Name: "a", Type: event.Text}}, Version: 0},
		SessionTimeout: time.Second, Heartbeat: time.Second, RebalanceTimeout: time.Millisecond,
		MaxBatchRecords: -1, MaxBatchBytes: -1, MaxFetchBytes: 1, Window: -1, Budget: NewBudget(7), RecordsPerSecond: -1,
		CommitInterval: -1, StopTimeout: -1, RequestTimeout: -1, RetryMin: time.Minute, RetryMax: time.Second, HaltPause: -1,
	}
	_, err := New(o)
	want := `ingest: Options.Kafka.Brokers is empty; name at least one host:port
ingest: Options.Group is empty
ingest: Options.Writer is nil
ingest: Options.Start is offsets; a group must start at earliest, latest or a time, and continues from committed offsets
ingest: Options.DeadLetterTopic is "t", the topic being read
ingest: Options.Schema: version a is declared text; it must be an int or a time
ingest: Options.OutOfRange is "skip"; it must be stop, earliest or latest
ingest: Options.RebalanceTimeout is 1ms; it must be at least 300ms
ingest: Options.CommitInterval is -1ns; it must be at least 1ms
ingest: Options.StopTimeout is -1ns; it must be at least 1ms
ingest: Options.RequestTimeout is -1ns; it must be at least 10ms
ingest: Options.RetryMax is 1s; it must be at least 1m0s
ingest: Options.HaltPause is -1ns; it must be at least 1ms
ingest: Options.Heartbeat is 1s; it must be at most a third of SessionTimeout, 333.333333ms
ingest: Options.MaxBatchRecords is -1; it must be at least 1
ingest: Options.MaxBatchBytes is -1; it must be at least 1
ingest: Options.MaxFetchBytes is 1; it must be from 65536 to 536870912
ingest: Options.Window is -1; it must be at least 1
ingest: Options.RecordsPerSecond is -1; it must be 0 (no limit) or more
ingest: Options.Budget is 7 bytes; it must be at least 8 × MaxFetchBytes, 8`
	if err == nil || err.Error() != want {
		got := ""
		if err != nil {
			got = err.Error()
		}
		for i, line := range strings.Split(got, "\n") {
			if w := strings.Split(want, "\n"); i >= len(w) || w[i] != line {
				t.Errorf("line %d: %s", i+1, line)
			}
		}
		t.Fatalf("%d lines", strings.Count(got, "\n")+1)
	}
}
