package elastic_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// TestProbesSearch checks that the probe searches for what the server has accepted by its id, despite answers without it, with an older
// version, or from some shards only, and despite failures, until it is found.
func TestProbesSearch(t *testing.T) {
	s := newServer(t)
	hit := func(version string) string {
		return `{"hits":{"hits":[{"_id":"o","_source":{"_ver":` + version + `}}]}}`
	}
	answers := []fault{
		status(200, `{"hits":{"hits":[]}}`),
		status(503, "no healthy upstream"),
		status(200, hit("19")),
		status(200, `{"_shards":{"failed":1},"hits":{"hits":[{"_source":{"_ver":21}}]}}`),
		drop,
		status(404, `{"error":{"type":"index_not_found_exception","reason":"no such index"}}`),
		status(200, "<html>"),
		status(200, hit("20")),
		status(200, hit("20")), // is not requested
	}
	var searches atomic.Int32
	s.fault = func(_ int, path string, body []byte) fault {
		if path != "/orders/_search" {
			return nil
		}
		if !strings.Contains(string(body), `"ids":{"values":["o"]}`) {
			t.Errorf("asked for %s", body)
		}
		return answers[searches.Add(1)-1]
	}
	probes := make(chan indexer.ProbeInfo, 1)
	r := start(t, s, indexer.Whole, func(o *indexer.Options) { o.Hooks.Probe = func(i indexer.ProbeInfo) { probes <- i } })
	if failures, err := event.Settle(t.Context(), r.Submit(t.Context(), &event.Batch{Events: []event.Event{indexertest.Event(20, "o", "paid")}})); err != nil || len(failures) > 0 {
		t.Fatalf("failures %v, error %v", failures, err)
	}
	i := <-probes
	if d := i.Ended.Sub(i.Durable); i.Outcome != indexer.Shown || d < 700*time.Millisecond {
		t.Errorf("%s after %v; want shown after seven pauses", i.Outcome, d)
	}
	r.Close()
	if n := int(searches.Load()); n != len(answers)-1 {
		t.Errorf("%d searches, want %d", n, len(answers)-1)
	}
}
