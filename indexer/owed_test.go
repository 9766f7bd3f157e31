package indexer_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// at returns the event of the record at an offset.
func at(offset int64, ev event.Event) event.Event {
	ev.Record.Offset = offset
	return ev
}

// TestEarlierOfATieDoesNotWinAfterAnOutage checks that of two changes with equal versions the later wins, though the writer has given up on
// the earlier, which is submitted again, and the later could have been written meanwhile.
func TestEarlierOfATieDoesNotWinAfterAnOutage(t *testing.T) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			down := time.Now().Add(12 * time.Second)
			m.before = func(int) error {
				if time.Now().Before(down) {
					return errFault
				}
				return nil
			}
			w := newWriter(t, m, changes, func(o *indexer.Options) {
				o.RetryFor, o.Pause, o.MaxPause = 10*time.Second, time.Second, time.Second
			})
			defer w.Close()
			earlier, later := at(1, indexertest.Event(5, "a", "earlier")), at(2, indexertest.Event(5, "a", "later"))
			first := submit(w, earlier)
			time.Sleep(5 * time.Second)
			second := submit(w, later)
			if failures, err := event.Settle(t.Context(), first); err != nil || len(failures) != 1 || failures[0].Verdict != event.Retry {
				t.Fatalf("the earlier: failures %v, error %v", failures, err)
			}
			time.Sleep(2 * time.Second)
			for i, f := range []event.Flight{submit(w, earlier), second} {
				if failures, err := event.Settle(t.Context(), f); err != nil || len(failures) > 0 {
					t.Fatalf("flight %d: failures %v, error %v", i, failures, err)
				}
			}
			hits, err := m.hits()
			if err != nil || len(hits) != 1 || hits[0].Fields["status"] != "later" {
				t.Errorf("%s: documents %v, error %v", changes, hits, err)
			}
		})
	}
}

// TestTiesEndInOrderThoughChangesAreGivenUp checks that changes in the order of their records end as in the model, though calls fail for so
// long that changes are given up, and are submitted again while later ones arrive.
func TestTiesEndInOrderThoughChangesAreGivenUp(t *testing.T) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		opts := indexertest.Options(t, "orders", changes)
		opts.RetryFor, opts.Pause, opts.MaxPause = 5*time.Millisecond, 4*time.Millisecond, 4*time.Millisecond
		rapid.Check(t, func(rt *rapid.T) {
			var batches [][]event.Event
			model := indexertest.NewModel(changes)
			for i := range rapid.IntRange(2, 20).Draw(rt, "events") {
				ev := at(int64(i), change(rt))
				model.Apply(&ev)
				if i == 0 || rapid.Bool().Draw(rt, "cut") {
					batches = append(batches, nil)
				}
				batches[len(batches)-1] = append(batches[len(batches)-1], ev)
			}
			pauses := rapid.SliceOfN(rapid.IntRange(0, 20), 2*len(batches), -1).Draw(rt, "pauses")
			faults := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 30).Draw(rt, "faults")
			m := newMemory()
			m.fail(faults)
			opts := opts
			opts.Calls = rapid.IntRange(1, 3).Draw(rt, "calls")
			opts.MaxBulkDocuments = rapid.IntRange(1, 4).Draw(rt, "documents")
			synctest.Test(t, func(*testing.T) {
				w, err := indexer.New(m, opts)
				if err != nil {
					rt.Error(err)
					return
				}
				defer w.Close()
				var settled sync.WaitGroup
				for i, batch := range batches {
					first := submit(w, batch...)
					settled.Go(func() { settle(w, batch, first, time.Duration(pauses[2*i])*time.Millisecond) })
					time.Sleep(time.Duration(pauses[2*i+1]) * time.Millisecond)
				}
				settled.Wait()
			})
			hits, err := m.hits()
			if err != nil {
				rt.Fatal(err)
			}
			if diff := model.Diff(hits); diff != "" {
				rt.Fatalf("%s: %s", changes, diff)
			}
		})
	}
}

// settle submits what has failed of a batch again, each time after a pause, until all of it is written.
func settle(w *indexer.Writer, batch []event.Event, f event.Flight, pause time.Duration) {
	for {
		failures, _ := event.Settle(context.Background(), f)
		if len(failures) == 0 {
			return
		}
		var left []event.Event
		for _, failure := range failures {
			left = append(left, batch[failure.Index])
		}
		batch = left
		time.Sleep(pause)
		f = submit(w, batch...)
	}
}

// TestOwedChangeThatNobodySubmitsAgain checks that later changes of a document do not wait once the Submit of a change that was given up has
// ended, nor for longer than 15 minutes, and that they are given up themselves meanwhile.
func TestOwedChangeThatNobodySubmitsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.before = func(int) error { return errFault }
		w := newWriter(t, m, indexer.Whole, func(o *indexer.Options) { o.RetryFor = 10 * time.Second })
		defer w.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		fails := func(what string, f event.Flight, want error) {
			t.Helper()
			failures, err := event.Settle(t.Context(), f)
			switch {
			case err != nil:
				t.Fatal(err)
			case want == nil && len(failures) > 0,
				want != nil && (len(failures) != 1 || !strings.Contains(failures[0].Err.Error(), want.Error())):
				t.Fatalf("%s: failures %v, want %v", what, failures, want)
			}
		}
		earlier, later := at(1, indexertest.Event(5, "a", "earlier")), at(2, indexertest.Event(5, "a", "later"))
		owed := errors.New("an earlier change of the document was not written")
		fails("the earlier", w.Submit(ctx, &event.Batch{Events: []event.Event{earlier}}), errFault)
		m.mu.Lock()
		m.before = nil
		m.mu.Unlock()
		start := time.Now()
		fails("the later", submit(w, later), owed)
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("it waited for %v", took)
		}
		fails("another document", submit(w, at(3, indexertest.Event(5, "b", "x"))), nil)
		cancel()
		fails("the later, once the Submit has ended", submit(w, later), nil)

		m.mu.Lock()
		m.before = func(int) error { return errFault }
		m.mu.Unlock()
		fails("the earlier", submit(w, earlier), errFault)
		m.mu.Lock()
		m.before = nil
		m.mu.Unlock()
		fails("the later", submit(w, later), owed)
		time.Sleep(15 * time.Minute)
		fails("the later, after 15 minutes", submit(w, later), nil)
	})
}
