package main

import (
	"strings"
	"testing"

	"brine/service"
)

// The live line shows how much was retried, and the last reason.
func TestLiveLineNamesTheLastRetry(t *testing.T) {
	line := func(n int64, reason string) string {
		return reading{Status: service.Status{Name: "scans.rows", Retries: n, Retried: reason, Dead: 2}}.line()
	}
	if got := line(0, ""); !strings.Contains(got, "retries 0  dead letters 2") {
		t.Errorf("before any: %s", got)
	}
	if got := line(12, "RegionTooBusyException"); !strings.Contains(got, "retries 12 (RegionTooBusyException)  dead letters 2") {
		t.Errorf("after 12: %s", got)
	}
}
