package elastic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// TestRequestTooLarge checks that requests shrink until the server accepts them, and that a document that is too large on its own is
// rejected.
func TestRequestTooLarge(t *testing.T) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		s := newServer(t)
		s.fault = func(_ int, path string, body []byte) fault {
			if path == "/_bulk" && len(body) > 700 {
				return status(413, "")
			}
			return nil
		}
		events := append(orders(), indexertest.Event(1, "big", strings.Repeat("x", 1000)))
		more := func(o *indexer.Options) { o.MaxBulkDocuments = 1000 }
		failures := start(t, s, changes, more).write(t, events...)
		if len(failures) != 1 || failures[0].Index != 40 || failures[0].Verdict != event.Reject || failures[0].Reason != event.TooLarge {
			t.Fatalf("%s: %+v", changes, failures)
		}
		checkOrders(t, s, changes)
	}
}

// TestSilentServer checks that a call to a server that accepts and never answers ends with the call's timeout.
func TestSilentServer(t *testing.T) {
	s := newServer(t)
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	s.fault = func(call int, _ string, _ []byte) fault {
		if call > 0 {
			return nil
		}
		return func(http.ResponseWriter, func() []byte) {
			s.mu.Unlock()
			<-hang
			s.mu.Lock()
		}
	}
	var calls []error
	set := func(o *indexer.Options) {
		o.CallTimeout = time.Second
		o.Hooks.Call = func(c *indexer.CallInfo) { calls = append(calls, c.Err) }
	}
	if failures := start(t, s, indexer.Whole, set).write(t, orders()...); len(failures) > 0 {
		t.Fatal(failures[0].Err)
	}
	checkOrders(t, s, indexer.Whole)
	if calls[0] == nil || !strings.Contains(calls[0].Error(), "call_timeout") {
		t.Errorf("the first call's error: %v", calls[0])
	}
}

// TestMappingRefusalsAreBounded checks that if an index refuses many documents, a few become dead letters, and then the partition halts.
func TestMappingRefusalsAreBounded(t *testing.T) {
	for _, c := range []struct {
		good, bad, rejected int
	}{{0, 50, 3}, {1000, 50, 10}} {
		s := newServer(t)
		var events []event.Event
		for i := range c.good {
			events = append(events, indexertest.Event(1, fmt.Sprint("g", i), "x"))
		}
		for i := range c.bad {
			events = append(events, indexertest.Event(1, fmt.Sprint("b", i), "refused"))
		}
		all := func(o *indexer.Options) { o.MaxBulkDocuments = 10_000 }
		verdicts := map[event.Verdict]int{}
		for _, f := range start(t, s, indexer.Whole, all).write(t, events...) {
			verdicts[f.Verdict]++
			if f.Verdict == event.Halt && !strings.Contains(f.Err.Error(), "refuse too many") {
				t.Fatal(f.Err)
			}
		}
		if verdicts[event.Reject] != c.rejected || verdicts[event.Halt] != c.bad-c.rejected {
			t.Errorf("of %d bad and %d good: verdicts %v, want %d rejects", c.bad, c.good, verdicts, c.rejected)
		}
	}
}

// TestOneItemBacksOffAlone checks that a document that the server defers is sent again after its pause, and holds up nothing else, not even
// in its lane, and that changes of the document itself keep their order.
func TestOneItemBacksOffAlone(t *testing.T) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		t.Run(string(changes), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { oneItemBacksOff(t, changes) }) })
	}
}

func oneItemBacksOff(t *testing.T, changes indexer.Changes) {
	s := inside()
	var refused, others int
	s.fault = func(_ int, path string, body []byte) fault {
		if path != "/_bulk" || !strings.Contains(string(body), `"slow"`) {
			if path == "/_bulk" && refused == 1 {
				others++
			}
			return nil
		}
		if refused++; refused > 2 {
			return nil
		}
		return instead(func(answer map[string][]map[string]map[string]any) {
			for _, item := range answer["items"] {
				for _, outcome := range item {
					if outcome["_id"] == "slow" {
						delete(s.docs, "slow")
						outcome["status"] = 429
					}
				}
			}
		})
	}
	r := start(t, s, changes, func(o *indexer.Options) { o.Pause, o.MaxPause = 100*time.Millisecond, 100*time.Millisecond })
	events := []event.Event{indexertest.Event(1, "slow", "first", nil, 7), indexertest.Event(1, "a", "x")}
	for i := range 40 {
		events = append(events, indexertest.Event(2, fmt.Sprint("n", i), "x"))
	}
	events = append(events, indexertest.Event(1, "slow", "tie"))
	if failures := r.write(t, events...); len(failures) > 0 {
		t.Fatal(failures[0].Err)
	}
	want := `{"_ver":1,"number":7,"status":"tie"}`
	if changes == indexer.Whole {
		want = `{"_ver":1,"status":"tie"}`
	}
	if got := s.document("slow"); got != want {
		t.Errorf("%s: %s, want %s", changes, got, want)
	}
	if refused != 3 || others != 10 { // 40 others, 4 per call
		t.Errorf("%s: it was sent %d times, and %d calls went out while it waited; want 3 and 10", changes, refused, others)
	}
}
