package repeat

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sheet collects the lines; timers may write to it.
type sheet struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sheet) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

func (s *sheet) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.buf.Reset()
	return s.buf.String()
}

func logTo(s *sheet) (*slog.Logger, *Handler) {
	h := New(slog.NewTextHandler(s, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}), 10*time.Second)
	return slog.New(h), h
}

func TestARepeatedLineIsPrintedOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sheet
		log, h := logTo(&s)
		var left atomic.Int64
		h.LeftOut(func(_ slog.Level, n int) { left.Add(int64(n)) })
		for i := range 100 {
			log.Warn("broker does not answer", "error", errors.New("refused"))
			if i == 0 {
				time.Sleep(500 * time.Millisecond) // so that no line coincides with the end of an interval
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		const line = "level=WARN msg=\"broker does not answer\" error=refused"
		want := line + "\n" + line + " left_out_before=8\n" + strings.Repeat(line+" left_out_before=9\n", 9)
		if got := s.take(); got != want {
			t.Errorf("after 100 s:\n%s", got)
		}
		log.Warn("broker does not answer", "error", errors.New("refused"))
		h.Close()
		got := s.take()
		if n := strings.Count(got, "\n"); int(left.Load())+11+n != 101 {
			t.Errorf("%d of 101 lines were printed, %d were counted: %s", 11+n, left.Load(), got)
		}
	})
}

func TestOtherLinesAreNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sheet
		log, h := logTo(&s)
		defer h.Close()
		rows, documents := log.With("pipeline", "scans.rows"), log.With("pipeline", "scans.documents")
		for range 3 {
			rows.Warn("waits", "partition", 1)
			rows.Warn("waits", "partition", 2)
			documents.Warn("waits", "partition", 1)
			rows.Error("waits", "partition", 1)
			rows.WithGroup("g").Warn("waits", "partition", 1)
		}
		if got := s.take(); strings.Count(got, "\n") != 5 {
			t.Errorf("five different lines came three times each; printed were\n%s", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.take(); strings.Count(got, "left_out_before=1\n") != 5 || strings.Count(got, "\n") != 5 {
			t.Errorf("then\n%s", got)
		}
		rows.Warn("waits", "partition", 1)
		if got := s.take(); got == "" {
			t.Error("a line that did not come for a minute is held up")
		}
	})
}

func kept(h *Handler) (lines, messages int) {
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	return len(h.all.recent), len(h.all.kinds)
}

// A message whose attributes always differ fills neither the log nor memory.
func TestLinesThatDifferEachTimeAreTakenAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sheet
		log, h := logTo(&s)
		var left atomic.Int64
		h.LeftOut(func(_ slog.Level, n int) { left.Add(int64(n)) })
		const n = 10_000
		for i := range n {
			log.Warn("dead letter", "offset", i)
		}
		if got, _ := kept(h); got > kinds+1 {
			t.Errorf("%d lines are kept", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		printed := strings.Count(s.take(), "\n")
		if printed > kinds+2 || printed+int(left.Load()) != n {
			t.Errorf("%d lines were printed, %d counted, of %d", printed, left.Load(), n)
		}
		if lines, messages := kept(h); lines != 0 || messages != 0 {
			t.Errorf("%d lines and %d messages are kept for ever", lines, messages)
		}
		log.Warn("dead letter", "offset", n)
		if s.take() == "" {
			t.Error("it is held up for ever")
		}
		h.Close()
	})
}

func TestNothingIsLostWhileItCloses(t *testing.T) {
	var s sheet
	log, h := logTo(&s)
	var left atomic.Int64
	h.LeftOut(func(_ slog.Level, n int) { left.Add(int64(n)) })
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := range 1000 {
				log.Info(fmt.Sprint("line ", w, i%3))
			}
		})
	}
	h.Close()
	writers.Wait()
	if printed := strings.Count(s.take(), "\n"); printed+int(left.Load()) != 8000 {
		t.Errorf("%d lines were printed and %d counted, of 8000", printed, left.Load())
	}
}
