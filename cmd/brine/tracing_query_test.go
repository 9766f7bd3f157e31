package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"brine/config"
)

// A query is part of its caller's trace if that is sampled and spans go somewhere other than the output of the answer.
func TestAQuestionIsFollowedInItsAskersTrace(t *testing.T) {
	t.Parallel()
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	file := filepath.Join(t.TempDir(), "spans.json")
	wrong := errors.New("wrong")
	for _, c := range []struct {
		to, flags string
		spans     int // total by then
	}{{"file:" + file, "01", 1}, {"file:" + file, "00", 1}, {"", "01", 1}, {"stdout", "01", 1}, {"file:" + file, "01", 2}} {
		var out, errs bytes.Buffer
		e := &env{ctx: t.Context(), stdout: &out, stderr: &errs, getenv: func(name string) (string, bool) {
			return "00-" + trace + "-" + parent + "-" + c.flags, name == "TRACEPARENT"
		}}
		if err := e.traced(&config.Config{Tracing: config.Tracing{To: c.to}}, "query", func(*env) error { return wrong }); !errors.Is(err, wrong) {
			t.Errorf("%q: error %v", c.to, err)
		}
		spans := readSpans(t, file)
		if len(spans) != c.spans || out.Len() > 0 || errs.Len() > 0 {
			t.Fatalf("%q, flags %s: %d spans, want %d; said %s%s", c.to, c.flags, len(spans), c.spans, &out, &errs)
		}
		if s := spans[0]; s.Name != "query" || s.SpanContext.TraceID != trace || s.Parent.SpanID != parent {
			t.Errorf("span %v", s)
		}
	}
}
