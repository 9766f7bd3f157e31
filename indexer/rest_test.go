package indexer_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// indexes is an Engine of several indexes, of which one accepts nothing until a time.
type indexes struct {
	*memory // for what the tests do not call
	of      map[string]*memory
	down    string
	until   time.Time
}

func (e indexes) Bulk(ctx context.Context, ops []indexer.Op, results []indexer.Result) error {
	for i := range ops {
		if ops[i].Index == e.down && time.Now().Before(e.until) {
			results[i] = indexer.Result{Status: http.StatusServiceUnavailable, Reason: "down"}
		} else if err := e.of[ops[i].Index].Bulk(ctx, ops[i:i+1], results[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (e indexes) Get(ctx context.Context, refs []indexer.Ref, docs []indexer.Stored) error {
	for i := range refs {
		if err := e.of[refs[i].Index].Get(ctx, refs[i:i+1], docs[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// TestEarlierOfATieIsNotWrittenAgainWhereItWas checks that of two changes with one version the later stays in an index that took both,
// although the earlier failed in another index and was submitted again.
func TestEarlierOfATieIsNotWrittenAgainWhereItWas(t *testing.T) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		synctest.Test(t, func(t *testing.T) {
			up, down := newMemory(), newMemory()
			engine := indexes{newMemory(), map[string]*memory{"orders": up, "parcels": down}, "parcels", time.Now().Add(12 * time.Second)}
			w := newWriter(t, engine, changes, func(o *indexer.Options) {
				o.RetryFor, o.Pause, o.MaxPause = 10*time.Second, time.Second, time.Second
				second := o.Documents[0]
				second.Index = "parcels"
				o.Documents = append(o.Documents, second)
			})
			defer w.Close()
			earlier, later := at(1, indexertest.Event(5, "a", "earlier")), at(2, indexertest.Event(5, "a", "later"))
			first := submit(w, earlier)
			time.Sleep(5 * time.Second)
			second := submit(w, later)
			failures, err := event.Settle(t.Context(), first)
			if err != nil || len(failures) != 1 || failures[0].Verdict != event.Retry {
				t.Fatalf("the earlier: failures %v, error %v", failures, err)
			}
			earlier.Rest = failures[0].Rest
			time.Sleep(2 * time.Second)
			for i, f := range []event.Flight{submit(w, earlier), second} {
				if failures, err := event.Settle(t.Context(), f); err != nil || len(failures) > 0 {
					t.Fatalf("flight %d: failures %v, error %v", i, failures, err)
				}
			}
			for name, index := range map[string]*memory{"the index that took both": up, "the other index": down} {
				hits, err := index.hits()
				if err != nil || len(hits) != 1 || hits[0].Fields["status"] != "later" {
					t.Errorf("%s, %s: documents %v, error %v", changes, name, hits, err)
				}
			}
			if len(up.log) != 2 {
				t.Errorf("%s: the index that took both was written %d times", changes, len(up.log))
			}
		})
	}
}
