package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"brine/internal/sample"
	"brine/service"
)

// late adds pipelines whose topics do not exist yet.
func (j *job) late(names ...string) {
	j.t.Helper()
	for _, name := range names {
		j.replace("pipelines:\n", fmt.Sprintf(`pipelines:
  %[1]s:
    topic: %[2]s.%[1]s
    fields: { waybill: text, action: text, at: time_ms }
    version: at
    changes: whole
    rows: [ { table: "%[3]s", set: { "e:a": action } } ]
    read: { halt_pause: 100ms }
`, name, j.topic, j.table))
	}
}

// TestMissingTopicHoldsUpItsPipelineAlone: the others run, and health and the log say what is missing and what to do. Once the topic
// exists, it is read.
func TestMissingTopicHoldsUpItsPipelineAlone(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.late("late")
	n := j.publish(first(sample.Scans(), 100))
	p := j.begin()
	p.until("scans.rows", n)
	p.health("/healthz", http.StatusServiceUnavailable, `late.rows: .*topic ".*\.late": no such topic .*create it`)
	if err := createTopicBy(t.Context(), j.client(), j.topic+".late", 1); err != nil {
		t.Fatal(err)
	}
	p.health("/readyz", http.StatusOK, "")
	p.stop()
	if said := p.log.String(); strings.Count(said, "topic of a pipeline is missing") != 1 || !strings.Contains(said, service.CreatesTopic) {
		t.Errorf("the log says\n%s", said)
	}
}

// TestMissingTopicUntilTheEnd: the records of the other topics are settled; then the command fails because of the missing one.
func TestMissingTopicUntilTheEnd(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.late("late")
	j.publish(first(sample.Scans(), 100))
	out, code := j.exit("run", "-q", "-c", j.file, "--until-end")
	if code != exitMissing || !strings.Contains(out, `late.rows: `) || !strings.Contains(out, ".late\": no such topic") || !strings.Contains(out, "hint: "+service.CreatesTopic) {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if n := j.uncommitted("rows"); n != 0 {
		t.Errorf("%d records of the topic that is there are not settled", n)
	}
	// With only these pipelines, the topic of the other one does not matter.
	if out, code := j.exit("run", "-q", "-c", j.file, "--until-end", "--pipeline", "scans"); code != exitOK || strings.Contains(out, "no such topic") {
		t.Errorf("exit %d of the one pipeline alone:\n%s", code, out)
	}
	if out, code := j.exit("run", "-q", "-c", j.file, "--pipeline", "scand"); code != exitUsage || !strings.Contains(out, `no pipeline "scand" in the configuration; it has late, scans`) {
		t.Errorf("exit %d of a pipeline that is not there:\n%s", code, out)
	}
}

// TestAllTopicsMissing: with no topic at all there is nothing else to do while waiting.
func TestAllTopicsMissing(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.late("late", "later")
	if out, code := j.exit("run", "-q", "-c", j.file, "--pipeline", "late,later"); code != exitMissing || !strings.Contains(out, "no such topic") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}
