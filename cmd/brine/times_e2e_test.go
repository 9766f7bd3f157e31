package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/event"
)

// TestTextTimesBecomeWhatMillisecondsDo publishes changes of orders whose times are texts, and one that is not a time. Keys, versions,
// columns and documents are those of the same changes with milliseconds.
func TestTextTimesBecomeWhatMillisecondsDo(t *testing.T) {
	t.Parallel()
	changes := orderChanges()[:600]
	want := undisturbedOrders(t, changes)
	j := newJobOf(t, embeddedStack(t), ordersExample)
	j.replace("created: time_ms", `created: { type: time, format: "%d.%m.%Y %H:%M:%S", zone: Asia/Shanghai }`)
	j.replace("at: time_ms", "at: time")
	shanghai := time.FixedZone("", 8*60*60)
	var text []byte
	for _, change := range changes {
		var fields map[string]any
		if err := json.Unmarshal(change, &fields); err != nil {
			t.Fatal(err)
		}
		created, at := fields["created"].(float64), fields["at"].(float64)
		fields["created"] = time.UnixMilli(int64(created)).In(shanghai).Format("02.01.2006 15:04:05.000")
		fields["at"] = time.UnixMilli(int64(at)).In(shanghai).Format(time.RFC3339Nano)
		line, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	text = append(text, `{"order":"o","user":"u","created":"31.02.2013 08:00:00","at":"2013-01-31T08:00:00Z"}`...)
	file := filepath.Join(t.TempDir(), "changes.jsonl")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	j.must("publish", "-c", j.file, "--topic", j.topic, "--key", "order", "--time", "at", file)
	j.must("run", "-q", "-c", j.file, "--until-end")
	j.expect(want)
	letters := j.deadLetters()
	if len(letters) != 2 { // from rows and documents
		t.Fatalf("%d dead letters", len(letters))
	}
	for _, l := range letters {
		if l.Reason != event.WrongType || l.Field != "created" || l.Detail != `a time as %d.%m.%Y %H:%M:%S is expected, found "31.02.2013 08:00:00"` {
			t.Errorf("dead letter %+v", l)
		}
	}
}
