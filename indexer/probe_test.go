package indexer_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// probes are a writer's probes so far.
type probes struct {
	mu  sync.Mutex
	all []indexer.ProbeInfo
}

func (p *probes) add(i indexer.ProbeInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, i)
}

// ended waits until everything else waits, and returns the finished probes.
func (p *probes) ended() []indexer.ProbeInfo {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

// produced returns a change whose record was produced now.
func produced(order string, version int64) event.Event {
	ev := indexertest.Event(version, order, fmt.Sprint("status ", version))
	ev.Record.Timestamp = time.Now().UnixMilli()
	return ev
}

func index(t *testing.T, w *indexer.Writer, events ...event.Event) {
	t.Helper()
	if failures, err := event.Settle(context.Background(), submit(w, events...)); err != nil || len(failures) > 0 {
		t.Fatalf("failures %v, error %v", failures, err)
	}
}

// probing runs test with a writer of whole or partial changes over an engine, in a bubble.
func probing(t *testing.T, changes indexer.Changes, e *refreshed, test func(w *indexer.Writer, p *probes)) {
	var p probes
	w := newWriter(t, e, changes, func(o *indexer.Options) { o.Hooks.Probe = p.add })
	test(w, &p)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestProbesMeasureTheRefresh writes documents every 70 ms for two minutes, into an index that is refreshed every second.
func TestProbesMeasureTheRefresh(t *testing.T) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		synctest.Test(t, func(t *testing.T) {
			e := newRefreshed(time.Second)
			probing(t, changes, e, func(w *indexer.Writer, p *probes) {
				began := time.Now()
				for i := 0; time.Since(began) < 2*time.Minute; i++ {
					ev := produced(fmt.Sprint("order ", i%3), int64(i))
					time.Sleep(50 * time.Millisecond)
					index(t, w, ev)
					time.Sleep(20 * time.Millisecond)
				}
				if n := len(p.ended()); n < 22 || n > 24 {
					t.Errorf("%s: %d probes in two minutes, want one each 5 s", changes, n)
				}
				longest := time.Duration(0)
				for _, i := range p.ended() {
					d := i.Ended.Sub(i.Durable)
					longest = max(longest, d)
					if i.Outcome != indexer.Shown || i.Index != "orders" || d <= 0 || d > time.Second+150*time.Millisecond {
						t.Errorf("%s: %s after %v, want shown within a refresh and a step", changes, i.Outcome, d)
					}
					if age := i.Durable.Sub(time.UnixMilli(i.Produced)); age != 50*time.Millisecond {
						t.Errorf("%s: durable %v after it was produced, want 50ms", changes, age)
					}
				}
				if longest < 500*time.Millisecond {
					t.Errorf("%s: none took longer than %v, with a second between refreshes", changes, longest)
				}
				if n := e.searches(); n > 11*len(p.ended()) {
					t.Errorf("%s: %d searches for %d documents", changes, n, len(p.ended()))
				}
			})
		})
	}
}

// TestProbesGiveUp checks that an index that shows nothing, is down or hangs is not searched for long, or often.
func TestProbesGiveUp(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*refreshed)
		want indexer.ProbeOutcome
		most int // searches
	}{
		"never refreshed": {func(*refreshed) {}, indexer.NotShown, 50},
		"down":            {func(r *refreshed) { r.down = true }, indexer.Unanswered, 50},
		"hangs":           {func(r *refreshed) { r.hang = true }, indexer.Unanswered, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newRefreshed(0)
				c.set(e)
				probing(t, indexer.Whole, e, func(w *indexer.Writer, p *probes) {
					for i := range 50 {
						index(t, w, produced(fmt.Sprint(i), 1))
						time.Sleep(time.Second)
					}
					if len(p.ended()) != 0 {
						t.Errorf("given up before a minute: %v", p.ended())
					}
					time.Sleep(10 * time.Second)
					if len(p.ended()) != 1 || p.ended()[0].Outcome != c.want || p.ended()[0].Ended.Sub(p.ended()[0].Durable) > time.Minute {
						t.Fatalf("probes %v, want one that was %s within a minute", p.ended(), c.want)
					}
					if n := e.searches(); n > c.most {
						t.Errorf("%d searches in a minute", n)
					}
					e.heal()
					index(t, w, produced("a", 1))
					time.Sleep(2 * time.Second)
					if len(p.ended()) != 2 || p.ended()[1].Outcome != indexer.Shown {
						t.Errorf("after the outage: %v, want one that is shown", p.ended())
					}
				})
			})
		})
	}
}

// TestProbesEndWithTheWriter checks that a writer that is closed while a search is pending, or while a probe waits for the next, leaves
// nothing behind and reports nothing.
func TestProbesEndWithTheWriter(t *testing.T) {
	for _, hang := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := newRefreshed(0)
			e.hang = hang
			var p probes
			w := newWriter(t, e, indexer.Whole, func(o *indexer.Options) { o.Hooks.Probe = p.add })
			index(t, w, produced("a", 1))
			time.Sleep(time.Second)
			closed := time.Now()
			if err := w.Close(); err != nil || time.Since(closed) > 0 {
				t.Errorf("closed after %v, error %v", time.Since(closed), err)
			}
			if e.searches() == 0 || len(p.ended()) > 0 {
				t.Errorf("%d searches, and probes %v", e.searches(), p.ended())
			}
		})
	}
}

// TestPartialChangesThatAreOlderAreNotProbed checks that such a change is not probed, because the document's version does not show whether
// it is included.
func TestPartialChangesThatAreOlderAreNotProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newRefreshed(time.Second)
		probing(t, indexer.Partial, e, func(w *indexer.Writer, p *probes) {
			index(t, w, indexertest.Event(20, "a", "paid"))
			time.Sleep(10 * time.Second)
			index(t, w, indexertest.Event(10, "a", nil, "tea"))
			time.Sleep(10 * time.Second)
			if len(p.ended()) != 1 {
				t.Errorf("%d probes, want the first change's: %v", len(p.ended()), p.ended())
			}
			index(t, w, indexertest.Event(30, "a", "sent"))
			time.Sleep(10 * time.Second)
			if len(p.ended()) != 2 {
				t.Errorf("%d probes, want those of the first and the third change: %v", len(p.ended()), p.ended())
			}
		})
	})
}

// TestNobodyAsksWithoutTheHook checks that without the hook there is no search, and no goroutine for it.
func TestNobodyAsksWithoutTheHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newRefreshed(time.Second)
		w := newWriter(t, e, indexer.Whole, nil)
		index(t, w, produced("a", 1))
		time.Sleep(time.Minute)
		w.Close()
		if e.searches() > 0 {
			t.Errorf("%d searches", e.searches())
		}
	})
}
