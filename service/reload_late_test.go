package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	hbaseserver "brine/hbase/embedded"
	"brine/service/devstack"
	"brine/service/reload"
	"brine/verify"
)

// TestLateWritesOfTheFormerHalfAreAccepted reloads a filter while the store does not answer, so that the half gives up after stop_timeout
// what it has submitted. The store writes that later, beside what the half that follows writes by its filter. It checks that verify accepts
// either of these records, and only of these, and that nothing of them is deleted.
func TestLateWritesOfTheFormerHalfAreAccepted(t *testing.T) {
	t.Parallel()
	text := strings.Replace(lines, "stop_timeout: 1m", "stop_timeout: 1s", 1)
	r := startLines(t, text)
	r.publish("moving", 0, 20)
	r.settled("moving.rows", 20)
	r.settled("moving.documents", 20)
	answers := make(chan struct{})
	remove := r.on.servers.HBase().Control("Multi", func(q *hbaseserver.Request) *hbaseserver.Outcome {
		q.Keep()
		return &hbaseserver.Outcome{Until: answers}
	})
	r.publish("moving", 20, 40)
	r.wait("all are submitted", func() bool { return r.metric("brine_ingest_submitted_events_total", "moving.rows") == 60 })
	r.settled("moving.documents", 60)
	result := r.reload(strings.Replace(text, "topic: moving\n", "topic: moving\n    when: 'n % 2 == 0'\n", 1), reload.Applied)
	for _, at := range result.Onward {
		want := reload.Offset{Half: at.Half, Topic: "moving", Partition: at.Partition, Offset: 60 / devstack.Partitions}
		if at.Half == "moving.rows" {
			want.Offset, want.Until = 20/devstack.Partitions, 60/devstack.Partitions
		}
		if at != want {
			t.Errorf("the filter counts from %+v on, want %+v", at, want)
		}
	}
	if len(result.Onward) != 2*devstack.Partitions {
		t.Errorf("the filter counts from %+v on", result.Onward)
	}
	remove()
	close(answers)
	r.publish("moving", 60, 40)
	r.settled("moving.rows", 20+80)
	r.settled("moving.documents", 60+40)
	r.wait("the late ones are written", func() bool { return r.rows("moving") == 60+20 })
	check := r.check(false)
	report := ran(t, check)
	if report.Problems() > 0 || report.Sources[0].Unknown != 40 || report.Sources[1].Unknown > 0 {
		t.Errorf("found %+v, want 40 records that may be written by both filters", report)
	}
	if n, err := check.DeleteExtra(t.Context()); n != 0 || err == nil {
		t.Errorf("%d rows were deleted, %v", n, err)
	}
	r.spoil(7) // from before
	r.spoil(80)
	if report := ran(t, r.check(false)); report.Problems() != 2 || report.Count(verify.Different) != 2 {
		t.Errorf("found %+v, want the two that are different", report)
	}
	var shown strings.Builder
	if err := result.Print(&shown, false); err != nil || strings.Count(shown.String(), fmt.Sprintf("before offset %d may be written with both", 15)) != devstack.Partitions {
		t.Errorf("%v\n%s", err, &shown)
	}
}

// TestRowsOfTheFormerHalfComeFirst checks that where both halves write a row, what the later one writes stays, although the former one
// writes late.
func TestRowsOfTheFormerHalfComeFirst(t *testing.T) {
	t.Parallel()
	text := strings.Replace(lines, "stop_timeout: 1m", "stop_timeout: 1s", 1)
	twice := strings.Replace(text, `rows: [ { table: moving, set: { "e:n": n } } ]`, `let: { twice: { type: int, value: n * 2 } }
    rows: [ { table: moving, set: { "e:n": n, "e:twice": twice } } ]`, 1)
	r := startLines(t, twice)
	answers := make(chan struct{})
	remove := r.on.servers.HBase().Control("Multi", func(q *hbaseserver.Request) *hbaseserver.Outcome {
		q.Keep()
		return &hbaseserver.Outcome{Until: answers}
	})
	r.publish("moving", 0, 40)
	r.wait("all are submitted", func() bool { return r.metric("brine_ingest_submitted_events_total", "moving.rows") == 40 })
	result := r.reload(strings.Replace(twice, "n * 2", "n * 3", 1), reload.Applied)
	if !slices.ContainsFunc(result.Onward, func(at reload.Offset) bool { return at.Half == "moving.rows" && at.Until == 10 }) {
		t.Errorf("the half settled in time, so this test shows nothing: %+v", result.Onward)
	}
	remove()
	close(answers)
	r.settled("moving.rows", 40)
	if report := ran(t, r.checkOf(true, "moving.rows")); report.Problems() > 0 {
		t.Errorf("by the configuration of now: %+v", report)
	}
}
