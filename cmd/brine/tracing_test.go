package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"brine/internal/sample"
)

// tracedSpan is a span in a trace file.
type tracedSpan struct {
	Name        string
	SpanContext struct{ TraceID, SpanID string }
	Parent      struct{ TraceID, SpanID string }
}

func readSpans(t *testing.T, file string) (all []tracedSpan) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s tracedSpan
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// A record that its producer traces is followed through all of brine: its span is the producer's child, its flight the record's, and the
// calls to HBase are the flight's.
func TestATracedRecordIsFollowedToItsCalls(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	file := filepath.Join(t.TempDir(), "spans.json")
	j.replace("kafka:", "tracing: { to: \"file:"+file+"\", one_in: 0 }\nkafka:")
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	producer, err := kgo.NewClient(kgo.SeedBrokers(j.brokers...), kgo.DefaultProduceTopic(j.topic))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	n := 0
	for event := range first(sample.Trail(100), 300) {
		r := &kgo.Record{Value: event}
		if n == 150 {
			r.Headers = []kgo.RecordHeader{{Key: "traceparent", Value: []byte("00-" + trace + "-" + parent + "-01")}}
		}
		if err := producer.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
		n++
	}
	j.must("run", "-c", j.file, "--until-end", "--quiet")
	byID, children := map[string]tracedSpan{}, map[string][]tracedSpan{}
	for _, s := range readSpans(t, file) {
		byID[s.SpanContext.SpanID] = s
		children[s.Parent.SpanID] = append(children[s.Parent.SpanID], s)
		if s.SpanContext.TraceID != trace {
			t.Errorf("span %s is in trace %s", s.Name, s.SpanContext.TraceID)
		}
	}
	for at, names := parent, []string{"record " + j.topic, "flight", "Multi"}; len(names) > 0; names = names[1:] {
		below := children[at]
		if len(below) == 0 || below[0].Name != names[0] {
			t.Fatalf("below %q are %v, want %s", byID[at].Name, below, names[0])
		}
		at = below[0].SpanContext.SpanID
	}
	for _, s := range byID {
		if s.Name != "Multi" && s.Name != "flight" && !strings.HasPrefix(s.Name, "record ") {
			t.Errorf("a span %s", s.Name)
		}
	}
}
