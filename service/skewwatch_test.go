package service

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"brine/skew"
	"brine/skew/skewtest"
)

// TestWhatIsHotIsLoggedOnce checks that a hot spot is logged once per cause, not at every look.
func TestWhatIsHotIsLoggedOnce(t *testing.T) {
	var log strings.Builder
	s := &Service{
		log:    slog.New(slog.NewTextHandler(&log, nil)),
		tables: skewtest.HotTables("scans", []skew.Region{{Name: "r0", Server: "s0:1", End: skew.Key("5")}, {Name: "r1", Server: "s1:1", Start: skew.Key("5")}}),
	}
	said := map[string]time.Time{}
	for range 3 {
		s.warnHot(said)
	}
	got := log.String()
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, `msg="region r0 of scans is hot" cause="one heavy key"`) || strings.ContainsRune(got, 0x1b) {
		t.Errorf("the log:\n%s", got)
	}
	for why, at := range said {
		said[why] = at.Add(-time.Hour)
	}
	if s.warnHot(said); strings.Count(log.String(), "\n") != 2 {
		t.Errorf("an hour later:\n%s", &log)
	}
}
