package service

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// mappedFiles is how much of the files that this process maps is resident.
func mappedFiles(t *testing.T) (kB int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if n, _ := fmt.Sscanf(line, "RssFile: %d kB", &kB); n == 1 {
			return kB
		}
	}
	t.Skip("this system does not tell the pages of files from others")
	return 0
}

// TestProgramIsReleased: what only the start needed of the executable is not resident any more.
func TestProgramIsReleased(t *testing.T) {
	if _, err := os.ReadFile("/proc/self/smaps"); err != nil {
		t.Skip(err)
	}
	const populateRead = 22 // MADV_POPULATE_READ, since Linux 5.14: older ones refuse it, and the test's own start has to do
	adviseProgram(populateRead)
	before := mappedFiles(t)
	releaseProgram()
	if after := mappedFiles(t); after > before-before/4 {
		t.Errorf("%d kB of the executable are resident, %d before", after, before)
	}
}
