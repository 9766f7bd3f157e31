package indexer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// TestNextChangeNeedsNoRead checks that a document is read before its first change, and later only if the held document may differ from the
// index's.
func TestNextChangeNeedsNoRead(t *testing.T) {
	for _, c := range []struct {
		name    string
		between func(t *testing.T, m *memory)
		version int64 // of the second change
		reads   int   // for that change
		want    string
	}{
		{"nothing in between", func(*testing.T, *memory) {}, 2, 0, `{"_row":"a","_ver":2,"status":"2","number":7,"_vers":{"status":2,"number":1}}`},
		{"a change that is older", func(*testing.T, *memory) {}, 0, 1, `{"_row":"a","_ver":1,"status":"1","number":7,"_vers":{"status":1,"number":1}}`},
		{"another has written it", func(_ *testing.T, m *memory) {
			m.docs["a"].source, m.docs["a"].seq = []byte(`{"_ver":1,"item":"x"}`), 9
		}, 2, 1,
			`{"_row":"a","_ver":2,"status":"2","item":"x","_vers":{"status":2,"item":1}}`},
		{"another has removed it", func(_ *testing.T, m *memory) { delete(m.docs, "a") }, 2, 1, `{"_row":"a","_ver":2,"status":"2","_vers":{"status":2}}`},
		{"another index, with a document of the same number, has taken its place", func(t *testing.T, m *memory) {
			m.home = "orders-000002"
			write(t, m, "b", 1) // an answer names it
			m.docs["a"].source = []byte(`{"_ver":1,"item":"x"}`)
		}, 2, 1, `{"_row":"a","_ver":2,"status":"2","item":"x","_vers":{"status":2,"item":1}}`},
		{"a pause in which another index may have come", func(_ *testing.T, m *memory) {
			time.Sleep(time.Minute)
			m.docs["a"].source = []byte(`{"_ver":1,"item":"x"}`)
		}, 2, 1, `{"_row":"a","_ver":2,"status":"2","item":"x","_vers":{"status":2,"item":1}}`},
		{"a call that failed", func(t *testing.T, m *memory) {
			m.before = func(int) error { m.before = nil; return errFault }
			write(t, m, "b", 1)
			m.docs["a"].source = []byte(`{"_ver":1,"item":"x"}`) // from a copy
		}, 2, 1, `{"_row":"a","_ver":2,"status":"2","item":"x","_vers":{"status":2,"item":1}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				w := newWriter(t, m, indexer.Partial, func(o *indexer.Options) { o.Calls = 1 })
				defer w.Close()
				m.writer = w
				mustWrite(t, w, indexertest.Event(1, "a", "1", nil, 7))
				c.between(t, m)
				before := m.reads
				mustWrite(t, w, indexertest.Event(c.version, "a", fmt.Sprint(c.version)))
				if got := string(m.docs["a"].source); got != c.want || m.reads-before != c.reads {
					t.Errorf("%d reads, %s\nwant %d, %s", m.reads-before, got, c.reads, c.want)
				}
			})
		})
	}
}

func mustWrite(t *testing.T, w *indexer.Writer, events ...event.Event) {
	t.Helper()
	if failures, err := event.Settle(context.Background(), submit(w, events...)); err != nil || len(failures) > 0 {
		t.Fatal(failures, err)
	}
}

// write writes another document.
func write(t *testing.T, m *memory, order string, version int64) {
	t.Helper()
	mustWrite(t, m.writer, indexertest.Event(version, order, "x"))
}

// TestHeldDocumentsAreForgottenOldestFirst checks that memory for held documents is bounded, and that what was written last stays.
func TestHeldDocumentsAreForgottenOldestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a pause would make it read again
		m := newMemory()
		w := newWriter(t, m, indexer.Partial, func(o *indexer.Options) { o.Calls, o.MaxRecentBytes = 1, 16<<10 })
		defer w.Close()
		const n = 1000
		for version := range int64(2) {
			before := m.reads
			for i := range n {
				mustWrite(t, w, indexertest.Event(1+version, fmt.Sprint("o", i), fmt.Sprint(version)))
			}
			if read := m.reads - before; read != n { // each is dropped before it is needed again
				t.Errorf("%d reads of %d documents", read, n)
			}
		}
		before := m.reads
		for i := n - 80; i < n; i++ {
			mustWrite(t, w, indexertest.Event(3, fmt.Sprint("o", i), "last"))
		}
		if read := m.reads - before; read != 0 {
			t.Errorf("%d of the last 80 documents were read", read)
		}
	})
}

// TestHeldDocumentsConverge checks that two writers that alternate, each holding documents that the other may have changed since, and an
// index that is replaced by another, end in the model's documents.
func TestHeldDocumentsConverge(t *testing.T) {
	declared := indexertest.Options(t, "orders", indexer.Partial)
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory()
		var writers []*indexer.Writer
		for range 2 {
			opts := declared
			opts.Calls, opts.MaxRecentBytes = 1, rapid.SampledFrom([]int{1, 1200, 1 << 20}).Draw(t, "held")
			opts.Pause, opts.MaxPause = time.Microsecond, time.Microsecond
			w, err := indexer.New(m, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			writers = append(writers, w)
		}
		model := indexertest.NewModel(indexer.Partial)
		events := rapid.Permutation(versioned(rapid.SliceOfN(rapid.Custom(change), 1, 40).Draw(t, "events"))).Draw(t, "order")
		for len(events) > 0 {
			n := rapid.IntRange(1, min(4, len(events))).Draw(t, "batch")
			if failures, err := event.Settle(context.Background(), submit(writers[rapid.IntRange(0, 1).Draw(t, "writer")], events[:n]...)); err != nil || len(failures) > 0 {
				t.Fatalf("failures %v, error %v", failures, err)
			}
			for i := range events[:n] {
				model.Apply(&events[i])
			}
			events = events[n:]
			if rapid.IntRange(0, 9).Draw(t, "copied") == 0 {
				m.copied()
			}
		}
		hits, err := m.hits()
		if err != nil {
			t.Fatal(err)
		}
		if diff := model.Diff(hits); diff != "" {
			t.Fatal(diff)
		}
	})
}

// versioned gives each event its own version.
func versioned(events []event.Event) []event.Event {
	for i := range events {
		events[i].Version = int64(i)
	}
	return events
}
