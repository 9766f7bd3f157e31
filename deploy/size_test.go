package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// mostBytes is the largest size of the binary, stripped as it is released; docs/adr/0103 breaks it down.
const mostBytes = 75_000_000

// A dependency that is heavier than its use is noticed when it is added, not when somebody wonders about the download.
func TestBinaryStaysWithinItsBound(t *testing.T) {
	if testing.Short() {
		t.Skip("links brine")
	}
	brine := filepath.Join(t.TempDir(), "brine")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", brine, "brine/cmd/brine")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := os.Stat(brine)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", file.Size())
	if file.Size() > mostBytes {
		t.Errorf("brine is %d bytes, more than %d: see what came, and whether it is worth that", file.Size(), mostBytes)
	}
}
