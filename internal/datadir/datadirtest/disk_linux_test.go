package datadirtest

import (
	"syscall"
	"testing"
)

// record stands in for a test and records how it ended.
type record struct {
	testing.TB
	skipped, failed bool
}

func (r *record) Helper()               {}
func (r *record) Skipf(string, ...any)  { r.skipped = true; panic(r) }
func (r *record) Fatalf(string, ...any) { r.failed = true; panic(r) }

// If no disk can be mounted the test is skipped, unless real servers are required.
func TestWithoutASmallDiskATestIsSkippedOrFails(t *testing.T) {
	for real, fails := range map[string]bool{"": false, "off": false, "required": true} {
		t.Setenv("BRINE_REAL", real)
		r := &record{TB: t}
		func() {
			defer func() { _ = recover() }()
			smallDisk(r, func(string, string, string, uintptr, string) error { return syscall.EPERM })
		}()
		if r.failed != fails || r.skipped == fails {
			t.Errorf("BRINE_REAL=%s: skipped %v, failed %v", real, r.skipped, r.failed)
		}
	}
}
