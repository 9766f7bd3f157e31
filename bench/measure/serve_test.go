package measure

import (
	"os/exec"
	"slices"
	"testing"
)

func TestServersSayWhereTheyAre(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo a:1 b:2; cat")
	addresses, stop, err := Serve(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(addresses, []string{"a:1", "b:2"}) {
		t.Errorf("got %q", addresses)
	}
	stop()
	if cmd.ProcessState == nil || !cmd.ProcessState.Success() {
		t.Errorf("stopped servers: %v", cmd.ProcessState)
	}
}

func TestServersThatEndAtOnceAreAnError(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "true")
	if _, _, err := Serve(cmd); err == nil || cmd.ProcessState == nil {
		t.Errorf("got %v, %v", err, cmd.ProcessState)
	}
}
