package ingest

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"
)

// running is a Loop in progress.
type running struct {
	*Loop
	t      testing.TB
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

func start(t testing.TB, o Options) *running {
	t.Helper()
	return startLoop(t, newLoop(t, o))
}

func newLoop(t testing.TB, o Options) *Loop {
	t.Helper()
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func startLoop(t testing.TB, l *Loop) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Loop: l, t: t, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		if r.err = l.Run(ctx); r.err != nil {
			t.Errorf("Run: %v", r.err)
		}
	}()
	t.Cleanup(func() { cancel(); <-r.done })
	return r
}

// stop ends the loop gracefully.
func (r *running) stop() {
	r.t.Helper()
	r.cancel()
	<-r.done
	if r.err != nil {
		r.t.Fatalf("Run: %v", r.err)
	}
}

// kill ends it like a kill of the process: all connections are cut, and nothing more is committed.
func (r *running) kill() {
	r.t.Helper()
	r.cluster.Close()
	r.cancel()
	<-r.done
}

// eventually waits for a condition. The bound is for a test that waits in vain; a busy machine may take long.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	const bound = 10 * time.Minute
	for end := time.Now().Add(bound); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", bound, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// testLogger logs to the test if it runs with -v.
func testLogger(t testing.TB) *slog.Logger {
	if !testing.Verbose() {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("test", t.Name())
}
