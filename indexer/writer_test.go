package indexer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ event.Writer = (*indexer.Writer)(nil)

func newWriter(t testing.TB, e indexer.Engine, changes indexer.Changes, set func(*indexer.Options)) *indexer.Writer {
	t.Helper()
	opts := indexertest.Options(t, "orders", changes)
	if set != nil {
		set(&opts)
	}
	w, err := indexer.New(e, opts)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func submit(w *indexer.Writer, events ...event.Event) event.Flight {
	return w.Submit(context.Background(), &event.Batch{Events: events})
}

// change draws a change of one of a few orders, with few versions, so that there are many ties.
func change(t *rapid.T) event.Event {
	var values []any
	for _, v := range []any{rapid.SampledFrom([]string{"a", "b", "c\xff"}).Draw(t, "order"), rapid.StringN(0, 3, -1).Draw(t, "status"),
		rapid.StringN(0, 3, -1).Draw(t, "item"), rapid.IntRange(-2, 2).Draw(t, "number"), rapid.Float64Range(-1e9, 1e9).Draw(t, "amount"),
		rapid.Bool().Draw(t, "gone"), rapid.IntRange(0, 5).Draw(t, "at")} {
		if len(values) > 0 && rapid.IntRange(0, 2).Draw(t, "null") == 0 {
			v = nil
		}
		values = append(values, v)
	}
	ev := indexertest.Event(int64(rapid.IntRange(0, 4).Draw(t, "version")), values...)
	for i, v := range ev.Values {
		if v.Null() && rapid.Bool().Draw(t, "unsent") {
			ev.Values[i] = event.Unsent()
		}
	}
	return ev
}

// kinds are the ways in which changes may be merged into documents.
var kinds = []struct {
	changes indexer.Changes
	nulls   bool
}{{indexer.Whole, false}, {indexer.Partial, false}, {indexer.Partial, true}}

// TestDocumentsEqualTheModel checks that any changes, repeated, cut into any batches, with calls that fail before or after they were
// executed, end in the same documents as the model of HBase's cells, including ties.
func TestDocumentsEqualTheModel(t *testing.T) {
	for _, kind := range kinds {
		declared := indexertest.Options(t, "orders", kind.changes)
		declared.Documents[0].Nulls = kind.nulls
		rapid.Check(t, func(t *rapid.T) {
			events := rapid.SliceOfN(rapid.Custom(change), 1, 30).Draw(t, "events")
			for range rapid.IntRange(0, 10).Draw(t, "repeats") {
				ev := events[rapid.IntRange(0, len(events)-1).Draw(t, "of")]
				events = slices.Insert(events, rapid.IntRange(0, len(events)).Draw(t, "to"), ev)
			}
			m := newMemory()
			faults := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 12).Draw(t, "faults")
			m.fail(faults)
			opts := declared
			opts.Calls = rapid.IntRange(1, 3).Draw(t, "calls")
			opts.MaxBulkDocuments = rapid.IntRange(1, 4).Draw(t, "documents")
			opts.Pause, opts.MaxPause = time.Microsecond, time.Microsecond
			w, err := indexer.New(m, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			model := indexertest.NewModel(kind.changes)
			model.Nulls = kind.nulls
			var flights []event.Flight
			for rest := events; len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(t, "batch")
				flights = append(flights, submit(w, rest[:n]...))
				rest = rest[n:]
			}
			for _, f := range flights {
				if failures, err := event.Settle(context.Background(), f); err != nil || len(failures) > 0 {
					t.Fatalf("failures %v, error %v", failures, err)
				}
			}
			for i := range events {
				model.Apply(&events[i])
			}
			hits, err := m.hits()
			if err != nil {
				t.Fatal(err)
			}
			if diff := model.Diff(hits); diff != "" {
				t.Fatalf("%v: %s", kind, diff)
			}
		})
	}
}

// TestShuffledChangesEndEqual checks that without ties, any order of the same changes ends in the same bytes.
func TestShuffledChangesEndEqual(t *testing.T) {
	for _, kind := range kinds {
		declared := indexertest.Options(t, "orders", kind.changes)
		declared.Documents[0].Nulls = kind.nulls
		rapid.Check(t, func(t *rapid.T) {
			events := rapid.SliceOfN(rapid.Custom(change), 1, 20).Draw(t, "events")
			for i := range events {
				events[i].Version = int64(i)
			}
			var first map[string]*memoryDoc
			for range 2 {
				m := newMemory()
				opts := declared
				w, err := indexer.New(m, opts)
				if err != nil {
					t.Fatal(err)
				}
				shuffled := rapid.Permutation(events).Draw(t, "order")
				n := rapid.IntRange(0, len(events)).Draw(t, "cut")
				for _, f := range []event.Flight{submit(w, shuffled[:n]...), submit(w, shuffled[n:]...)} {
					if failures, err := event.Settle(context.Background(), f); err != nil || len(failures) > 0 {
						t.Fatalf("failures %v, error %v", failures, err)
					}
				}
				w.Close()
				if first == nil {
					first = m.docs
					continue
				}
				for id, doc := range m.docs {
					if other := first[id]; other == nil || !bytes.Equal(other.source, doc.source) {
						t.Fatalf("%v: %s and %s", kind, doc.source, other.source)
					}
				}
			}
		})
	}
}

// TestOutageIsBounded checks that during an outage every event is tried for RetryFor and no longer, with growing pauses.
func TestOutageIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.before = func(int) error { return errFault }
		var pauses []time.Duration
		w := newWriter(t, m, indexer.Whole, func(o *indexer.Options) {
			o.RetryFor, o.Pause, o.MaxPause = 10*time.Second, 100*time.Millisecond, 2*time.Second
			o.Hooks.Retry = func(r indexer.RetryInfo) { pauses = append(pauses, r.Pause) }
		})
		start := time.Now()
		failures, err := event.Settle(t.Context(), submit(w, indexertest.Event(1, "a", "x")))
		took := time.Since(start)
		w.Close()
		if err != nil || len(failures) != 1 || failures[0].Verdict != event.Retry || !errors.Is(failures[0].Err, errFault) {
			t.Fatalf("failures %v, error %v", failures, err)
		}
		if took < 10*time.Second || took > 12*time.Second {
			t.Errorf("gave up after %v", took)
		}
		for i, p := range pauses {
			if limit := min(100*time.Millisecond<<i, 2*time.Second); p > limit || p < limit/2 {
				t.Errorf("pause %d is %v, want within %v and %v", i, p, limit/2, limit)
			}
		}
	})
}

// TestFullBufferPausesSubmit checks that Submit waits while the memory is used up, and continues when some is released.
func TestFullBufferPausesSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		var down atomic.Bool
		down.Store(true)
		m.before = func(int) error {
			if down.Load() {
				return errFault
			}
			return nil
		}
		var most, now atomic.Int64
		w := newWriter(t, m, indexer.Whole, func(o *indexer.Options) {
			o.MaxBufferedBytes = 1 << 16
			o.RetryFor = time.Hour
			o.Hooks.Buffered = func(i indexer.BufferedInfo) {
				most.Store(max(most.Load(), i.Bytes))
				now.Add(i.Change)
			}
		})
		big := indexertest.Event(1, "a", strings.Repeat("x", 40_000))
		first := submit(w, big)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		failures, err := event.Settle(t.Context(), w.Submit(ctx, &event.Batch{Events: []event.Event{big}}))
		if err != nil || len(failures) != 1 || failures[0].Verdict != event.Retry || !errors.Is(failures[0].Err, context.DeadlineExceeded) {
			t.Fatalf("a submit that found no room: failures %v, error %v", failures, err)
		}
		down.Store(false)
		if failures, err := event.Settle(t.Context(), submit(w, big)); err != nil || len(failures) > 0 {
			t.Fatalf("failures %v, error %v", failures, err)
		}
		if failures, err := event.Settle(t.Context(), first); err != nil || len(failures) > 0 {
			t.Fatalf("failures %v, error %v", failures, err)
		}
		w.Close()
		if most.Load() > 1<<16 {
			t.Errorf("%d bytes were buffered", most.Load())
		}
		if now.Load() != 0 {
			t.Errorf("at the end %d bytes are buffered", now.Load())
		}
	})
}

// TestCloseGivesBack checks that events that are in flight when the writer is closed, and later ones, are returned with retry.
func TestCloseGivesBack(t *testing.T) {
	m := newMemory()
	m.before = func(int) error { return errFault }
	w := newWriter(t, m, indexer.Partial, nil)
	flights := []event.Flight{submit(w, indexertest.Event(1, "a", "x"), indexertest.Event(1, "b", "x")), submit(w, indexertest.Event(1, "a", "y"))}
	w.Close()
	flights = append(flights, submit(w, indexertest.Event(2, "a", "z")))
	for i, f := range flights {
		failures, err := event.Settle(context.Background(), f)
		if err != nil || len(failures) == 0 || failures[0].Verdict != event.Retry || !errors.Is(failures[0].Err, indexer.ErrClosed) {
			t.Errorf("flight %d: failures %v, error %v", i, failures, err)
		}
	}
}

// TestWaitEndsWithItsContext checks that the flight continues and can be waited for again.
func TestWaitEndsWithItsContext(t *testing.T) {
	m := newMemory()
	m.mu.Lock()
	w := newWriter(t, m, indexer.Whole, nil)
	defer w.Close()
	f := submit(w, indexertest.Event(1, "a", "x"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := event.Settle(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	m.mu.Unlock()
	if failures, err := event.Settle(context.Background(), f); err != nil || len(failures) > 0 {
		t.Errorf("failures %v, error %v", failures, err)
	}
}

// TestOneWriteOfADocumentInACall checks that gathered changes of one document are one write, and that every call has at most one.
func TestOneWriteOfADocumentInACall(t *testing.T) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		m := newMemory()
		w := newWriter(t, m, changes, func(o *indexer.Options) { o.Calls = 1 })
		var events []event.Event
		for i := range 100 {
			events = append(events, indexertest.Event(int64(i), fmt.Sprint(i%10), fmt.Sprint("s", i)))
		}
		if failures, err := event.Settle(context.Background(), submit(w, events...)); err != nil || len(failures) > 0 {
			t.Fatalf("failures %v, error %v", failures, err)
		}
		w.Close()
		if len(m.log) != 1 || len(m.log[0]) != 10 {
			t.Errorf("%s: calls %v, want one of ten documents", changes, m.log)
		}
	}
}

// TestEventOfTwoDocuments checks that an event is rejected only when everything of it that can be written is written.
func TestEventOfTwoDocuments(t *testing.T) {
	m := newMemory()
	w := newWriter(t, m, indexer.Whole, func(o *indexer.Options) {
		second := o.Documents[0]
		second.Index, second.Changes = "second", indexer.Partial
		o.Documents = append(o.Documents, second)
		o.MaxDocumentBytes = 1 << 10
		o.RetryFor = time.Nanosecond
	})
	defer w.Close()
	m.before = func(int) error { return errFault }
	events := []event.Event{indexertest.Event(1, "a", "x"), indexertest.Event(1, nil), indexertest.Event(1, "b", strings.Repeat("x", 2000)),
		indexertest.Event(1, "", "x")}
	failures, err := event.Settle(context.Background(), submit(w, events...))
	if err != nil || len(failures) != 4 {
		t.Fatalf("failures %v, error %v", failures, err)
	}
	for i, want := range []event.Reason{event.Unavailable, event.MissingField, event.TooLarge, event.BadKey} {
		if failures[i].Index != i || failures[i].Reason != want {
			t.Errorf("event %d: %+v, want %s", i, failures[i], want)
		}
	}
}
