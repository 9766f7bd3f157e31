package main

import (
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"

	"brine/internal/sample"
)

// another returns the job with another topic of its pipeline, which it creates.
func (j *job) another(suffix string) *job {
	j.t.Helper()
	other := *j
	other.topic += suffix
	if err := createTopicBy(j.t.Context(), j.client(), other.topic, devPartitions); err != nil {
		j.t.Fatal(err)
	}
	if j.lasting {
		j.t.Cleanup(func() {
			topics := []string{other.topic, other.topic + ".dead"}
			if _, err := j.client().DeleteTopics(j.t.Context(), &kafka.DeleteTopicsRequest{Topics: topics}); err != nil {
				j.t.Log(err)
			}
		})
	}
	return &other
}

// TestSeveralTopics: a topic created while brine runs is read from its first record, dead letters are not read, and commands that look at a
// pipeline's topics look at all of them.
func TestSeveralTopics(t *testing.T) {
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		j.replace("topic: "+j.topic, `topic_pattern: "`+j.topic+`.*"`)
		j.replace("  group: ", "  topic_refresh: 100ms\n  group: ")
		p := j.begin()
		n := j.publish(first(sample.Scans(), 100))
		b := j.another(".b")
		n += b.publish(first(sample.Scans(), 200))
		b.send(0, "no json")
		p.until("scans.rows", n+1)
		p.stop()
		p = j.begin()
		n += b.publish(first(sample.Scans(), 50))
		c := j.another(".c")
		n += c.publish(first(sample.Scans(), 10))
		p.until("scans.rows", n+1)
		p.stop()

		if out := j.must("offsets", "show", "-c", j.file); !strings.Contains(out, "topic "+j.topic+", ") || !strings.Contains(out, "topic "+b.topic+", ") || strings.Contains(out, ".dead, ") {
			t.Errorf("offsets show:\n%s", out)
		}
		j.must("verify", "-q", "-c", j.file, "--full")
		if out := j.must("deadletters", "ls", "-c", j.file); !strings.Contains(out, b.topic+"/0:") || !strings.Contains(out, "1 dead letter of 1 record") {
			t.Errorf("deadletters ls:\n%s", out)
		}
		if out := j.must("deadletters", "ls", "-q", "-c", j.file, "--summary"); !strings.Contains(out, b.topic+"/0:") {
			t.Errorf("deadletters ls --summary:\n%s", out)
		}
		if out := j.must("deadletters", "replay", "-q", "-c", j.file, "--preview", "1"); !strings.Contains(out, ".rows "+b.topic+"/0:") {
			t.Errorf("deadletters replay --preview:\n%s", out)
		}
		if out, code := j.exit("offsets", "set", "-c", j.file, "--to", "0:0", "--yes"); code != exitUsage || !strings.Contains(out, "--topic") {
			t.Errorf("offsets set without a topic: exit %d\n%s", code, out)
		}
		j.must("offsets", "set", "-c", j.file, "--topic", c.topic, "--to", "earliest", "--yes")
		if out := j.must("replay", "-c", j.file, "--from", "earliest", "--dry-run"); strings.Count(out, "replay of scans.rows: topic ") != 3 {
			t.Errorf("replay of all topics:\n%s", out)
		}
		j.must("replay", "-q", "-c", j.file, "--from", "earliest")
		j.must("run", "-q", "-c", j.file, "--until-end")
		if out, code := j.exit("check", "-c", j.file, "--connect"); strings.Contains(out, "does not exist") {
			t.Errorf("check --connect: exit %d\n%s", code, out)
		}
	})
}
