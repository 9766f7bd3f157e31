package service_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"brine/service"
)

// TestWatchedFileIsReloaded checks that a changed file is reloaded by itself, and that a wrong one is refused while what ran before
// continues.
func TestWatchedFileIsReloaded(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	file := filepath.Join(t.TempDir(), "lines.yaml")
	save := func(text string) { // at once, so that no part of it is taken for the whole
		t.Helper()
		err := os.WriteFile(file+".new", []byte(text), 0o600)
		if err == nil {
			err = os.Rename(file+".new", file)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	save(lines)
	r.mu.Lock()
	r.file = file
	r.mu.Unlock()
	watched := service.WatchFile(file)
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { r.ReloadWhen(ctx, nil, watched) })
	t.Cleanup(watching.Wait)
	t.Cleanup(cancel)

	r.publish("moving", 0, 20)
	r.settled("moving.rows", 20)
	save(filtered("n % 2 == 0"))
	r.wait("the file is reloaded", func() bool {
		return strings.Contains(r.log.String(), `msg="audit: configuration reloaded" by="--watch: `+file+` has changed" result=applied`)
	})
	r.publish("moving", 20, 20)
	r.settled("moving.rows", 40)
	if n := r.rows("moving"); n != 30 {
		t.Errorf("%d rows, want those of 20 records and half of 20 more", n)
	}

	save(filtered("n %"))
	r.wait("the file is refused", func() bool {
		_, body := get(t, r.URL()+"/metrics")
		return strings.Contains(body, `brine_reload_total{result="refused"} 1`)
	})
	if status, body := get(t, r.URL()+"/healthz"); status != http.StatusOK || !strings.Contains(body, "was refused") {
		t.Errorf("healthz: %d %s", status, body)
	}
	r.publish("moving", 40, 20)
	r.settled("moving.rows", 60)
	if n := r.rows("moving"); n != 40 {
		t.Errorf("%d rows, want 40", n)
	}
}
