package service

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
)

// TestReloadsWaitForTheStart checks that a signal that arrives before the pipelines run is kept until they do, and that waiting for them
// ends with ctx.
func TestReloadsWaitForTheStart(t *testing.T) {
	for name, runs := range map[string]bool{"started": true, "stopped before": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Service{running: make(chan struct{}), log: slog.New(slog.DiscardHandler)}
				signals := make(chan os.Signal, 1)
				signals <- syscall.SIGHUP
				ctx, cancel := context.WithCancel(t.Context())
				go s.ReloadWhen(ctx, signals, nil)
				synctest.Wait()
				if len(signals) != 1 {
					t.Error("the signal was taken before the start")
				}
				if runs {
					close(s.running)
					synctest.Wait()
					if len(signals) != 0 {
						t.Error("the signal was not taken after the start")
					}
				}
				cancel() // otherwise the bubble does not end
			})
		})
	}
}

// TestChangesAreSeenOnceTheyAreWhole checks that a file counts as changed once it has other content that is the same at two looks: not
// while it is written, nor while it is missing, nor when it has its old content again.
func TestChangesAreSeenOnceTheyAreWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "brine.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	watched := WatchFile(file)
	for i, step := range []struct {
		do   func()
		want bool
	}{
		{func() {}, false},
		{func() { write("half of b") }, false},
		{func() { write("b") }, false},
		{func() {}, true},
		{func() {}, false},
		{func() { os.Remove(file) }, false},
		{func() { write("b") }, false},
		{func() {}, false},
		{func() { write("c") }, false},
		{func() { write("b") }, false},
		{func() {}, false},
		{func() { write("") }, false},
		{func() {}, true},
	} {
		if step.do(); watched.changed() != step.want {
			t.Errorf("step %d: changed is %v", i, !step.want)
		}
	}
}
