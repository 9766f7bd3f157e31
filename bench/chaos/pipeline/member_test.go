package pipeline

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/bench/chaos/fault"
)

func TestMemberThatDoesNotStopIsKilledAndReported(t *testing.T) {
	script := `trap "" TERM; echo deaf; while :; do sleep 0.05; done`
	ms := &members{logs: t.TempDir(), ending: 300 * time.Millisecond, command: func() *exec.Cmd { return exec.Command("sh", "-c", script) }}
	t.Cleanup(ms.kill)
	m := ms.start("deaf")
	err := fault.Until(t.Context(), func() bool {
		said, err := os.ReadFile(filepath.Join(ms.logs, "deaf.log"))
		return err == nil && string(said) == "deaf\n"
	})
	if err != nil {
		t.Fatal(err)
	}
	took := ms.end(t.Context())
	if took < 300*time.Millisecond || len(ms.odd) != 1 || !strings.Contains(ms.odd[0], "deaf: it did not stop") {
		t.Errorf("ended in %v, odd: %q", took, ms.odd)
	}
	if m.cmd != nil || ms.starts != 1 {
		t.Errorf("it was started %d times, and runs: %v", ms.starts, m.cmd != nil)
	}
}

func TestEndsAreJudged(t *testing.T) {
	for _, c := range []struct {
		name, script string
		signal       syscall.Signal
		odd          []string
		away         int
	}{
		{"stopped", `trap "exit 0" TERM; echo; while :; do sleep 0.01; done`, syscall.SIGTERM, nil, 0},
		{"killed", "echo; exec sleep 60", syscall.SIGKILL, nil, 0},
		{"finds no server", "exit 3", 0, nil, 1},
		{"fails", "exit 1", 0, []string{`fails: asked by "signal 0", it ended: exit status 1`}, 0},
		{"ends by itself", "exit 0", 0, []string{`ends by itself: asked by "signal 0", it ended: exit status 0`}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.script)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_, _ = out.Read(make([]byte, 1)) // its trap is set, or it has ended
			if c.signal != 0 {
				if err := cmd.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait() // its state is checked
			ms := new(members)
			ms.note(c.name, cmd.ProcessState, c.signal)
			if !slices.Equal(ms.odd, c.odd) || ms.away != c.away || ms.starts != 1 {
				t.Errorf("odd %q, away %d, starts %d; want %q, %d, 1", ms.odd, ms.away, ms.starts, c.odd, c.away)
			}
		})
	}
}
