package service

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// mappedFiles returns how much of the process's mapped files is resident.
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

// TestProgramIsReleased checks that the pages of the executable that only startup needed are not resident any more.
func TestProgramIsReleased(t *testing.T) {
	if _, err := os.ReadFile("/proc/self/smaps"); err != nil {
		t.Skip(err)
	}
	const populateRead = 22 // MADV_POPULATE_READ, since Linux 5.14; without it, the test's own startup has to do
	adviseProgram(populateRead)
	before := mappedFiles(t)
	releaseProgram()
	if after := mappedFiles(t); after > before-before/4 {
		t.Errorf("%d kB of the executable are resident, %d before", after, before)
	}
}
