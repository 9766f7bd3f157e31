package publish

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/internal/testenv"
)

// TestJobs checks that each of the two ways creates the topic, publishes once, and adds nothing when repeated.
func TestJobs(t *testing.T) {
	t.Parallel()
	broker := testenv.KafkaFake(t, 2)
	file := filepath.Join(t.TempDir(), "two.jsonl")
	if err := os.WriteFile(file, []byte(`{"id":"a"}`+"\n"+`{"id":"b"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for topic, alone := range map[string]bool{"alone": true, "shared": false} {
		for again := range 2 {
			sent := int64(0)
			j := Job{Options: options(broker, time.Minute), Topic: topic, Partitions: 3, Group: "brine", Alone: alone, Log: io.Discard, Rate: 100_000,
				Sent: func(n int64) { sent += n }}
			if err := j.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			before, n, err := j.Publish(t.Context(), &Source{Files: []string{file}, Key: "id"})
			if want := int64(2 - 2*again); err != nil || n != want || sent != want || !alone && before != 2-want {
				t.Errorf("%s, try %d: %d there before, %d put, %d said: %v", topic, again, before, n, sent, err)
			}
		}
		if got := countCommitted(t, broker, topic, 3); len(got) != 2 {
			t.Errorf("%s holds %v", topic, got)
		}
	}
	if name := nameOf("t", []string{"/x/2012.jsonl.gz", "a b.csv.gz"}); name != "t_2012.jsonl.gz_a-b.csv" {
		t.Errorf("name %q", name)
	}
}
