package service_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"brine/config"
	"brine/ingest/control"
	"brine/service"
)

// reports reads what members have reported.
func reports(t *testing.T, cfg *config.Config) (ids []string) {
	t.Helper()
	topic := control.Open(control.Options{Kafka: cfg.Kafka.Options(), Topic: cfg.Kafka.Control(), Logger: slog.New(slog.DiscardHandler)})
	defer topic.Close()
	if _, err := topic.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range topic.Members() {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

// TestMembersReportWhileTheyRun checks that a report goes with the member that made it, and that old ones of killed processes go too.
func TestMembersReportWhileTheyRun(t *testing.T) {
	_, cfg := stack(t)
	topic := control.Open(control.Options{Kafka: cfg.Kafka.Options(), Topic: cfg.Kafka.Control(), Logger: slog.New(slog.DiscardHandler)})
	defer topic.Close()
	group := cfg.Halves()[0].Group()
	left := []control.Member{{Group: group, ID: "killed long ago", Started: time.Now().Add(-25 * time.Hour)},
		{Group: group, ID: "killed", Started: time.Now().Add(-23 * time.Hour)},
		{Group: "another", ID: "of another group", Started: time.Now().Add(-25 * time.Hour)}}
	if err := topic.Report(t.Context(), left, nil); err != nil {
		t.Fatal(err)
	}
	r := run(t, cfg, "scans.rows")
	var known map[string]control.Member
	member := ""
	r.until("reported", func(service.Status) bool {
		known = r.Control().Members()
		for id, m := range known {
			if m.Version == runVersion {
				member = id
			}
		}
		return member != ""
	})
	if m := known[member]; m.Group != group || m.PID == 0 || time.Since(m.Started) > time.Hour {
		t.Errorf("reported %+v", m)
	}
	if got, want := reports(t, cfg), []string{member, "killed", "of another group"}; !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("reports of %q while it runs; expected %q", got, want)
	}
	r.stop()
	if got := reports(t, cfg); !slices.Equal(got, []string{"killed", "of another group"}) {
		t.Errorf("reports of %q after it has stopped", got)
	}
}
