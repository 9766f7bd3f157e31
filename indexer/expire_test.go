package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// purged is a memory that records its purges; answer is called for every one, with its number.
type purged struct {
	*memory
	calls  []string // the index, and how long before the call the removed documents were deleted
	at     []time.Duration
	began  time.Time
	answer func(ctx context.Context, call int) (int, error)
}

func newPurged(answer func(context.Context, int) (int, error)) *purged {
	return &purged{memory: newMemory(), began: time.Now(), answer: answer}
}

func (p *purged) Purge(ctx context.Context, index string, before int64) (int, error) {
	call := len(p.calls)
	p.calls = append(p.calls, fmt.Sprintf("%s %v", index, time.Since(time.UnixMilli(before))))
	p.at = append(p.at, time.Since(p.began))
	return p.answer(ctx, call)
}

// reported collects what the hook reports, as "index n error".
func reported(o *indexer.Options) *[]string {
	var list []string
	o.Hooks.Purged = func(i indexer.PurgedInfo) { list = append(list, fmt.Sprintf("%s %d %v", i.Index, i.Documents, i.Err)) }
	return &list
}

// purgeOf makes documents of "orders" expire 8 days after they were deleted, and those of "second" after two; those of "third" stay.
func purgeOf(o *indexer.Options) {
	for i, purge := range []time.Duration{0, 48 * time.Hour, 0} {
		if i > 0 {
			o.Documents = append(o.Documents, o.Documents[0])
		}
		o.Documents[i].Index, o.Documents[i].Purge = []string{"orders", "second", "third"}[i], purge
	}
	o.Documents[0].Purge = 8 * 24 * time.Hour
}

// TestPurgeComesAtTheStartAndEachHour checks that each index with a purge is purged by its own age, relative to the time of the call.
func TestPurgeComesAtTheStartAndEachHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newPurged(func(_ context.Context, call int) (int, error) { return 3 - call, nil })
		var said *[]string
		w := newWriter(t, e, indexer.Whole, func(o *indexer.Options) { purgeOf(o); said = reported(o) })
		time.Sleep(3*time.Hour - time.Second)
		w.Close()
		time.Sleep(3 * time.Hour)
		if want := slices.Repeat([]string{"orders 192h0m0s", "second 48h0m0s"}, 3); !slices.Equal(e.calls, want) {
			t.Errorf("calls %q, want %q", e.calls, want)
		}
		if want := []time.Duration{0, 0, time.Hour, time.Hour, 2 * time.Hour, 2 * time.Hour}; !slices.Equal(e.at, want) {
			t.Errorf("at %v, want %v", e.at, want)
		}
		if want := []string{"orders 3 <nil>", "second 2 <nil>", "orders 1 <nil>"}; !slices.Equal(*said, want) {
			t.Errorf("reported %q, want %q", *said, want)
		}
	})
}

// TestPurgeThatFailsIsMadeAgain checks that whichever call fails is reported, with what was removed before, does not cost another index its
// turn, and is retried with the next one.
func TestPurgeThatFailsIsMadeAgain(t *testing.T) {
	for fails := range 6 {
		synctest.Test(t, func(t *testing.T) {
			e := newPurged(func(_ context.Context, call int) (int, error) {
				if call == fails {
					return 7, errFault
				}
				return 0, nil
			})
			var said *[]string
			w := newWriter(t, e, indexer.Whole, func(o *indexer.Options) { purgeOf(o); said = reported(o) })
			time.Sleep(3 * time.Hour)
			synctest.Wait()
			w.Close()
			if len(e.calls) != 8 {
				t.Errorf("call %d failed: %d calls, want 8", fails, len(e.calls))
			}
			if want := []string{[]string{"orders", "second"}[fails%2] + " 7 injected"}; !slices.Equal(*said, want) {
				t.Errorf("call %d failed: reported %q, want %q", fails, *said, want)
			}
		})
	}
}

// TestPurgeOfADownEngine checks that an outage of half a day is reported once an hour, that writes are still tried meanwhile, and that the
// purge runs once the engine is back.
func TestPurgeOfADownEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		down := func() error {
			if time.Since(began) < 12*time.Hour {
				return errFault
			}
			return nil
		}
		e := newPurged(func(context.Context, int) (int, error) {
			if err := down(); err != nil {
				return 0, err
			}
			return 1, nil
		})
		e.before = func(int) error { return down() }
		var said *[]string
		w := newWriter(t, e, indexer.Whole, func(o *indexer.Options) {
			o.Documents[0].Purge = time.Hour
			o.RetryFor = 24 * time.Hour
			said = reported(o)
		})
		f := submit(w, indexertest.Event(1, "a", "x"))
		time.Sleep(12*time.Hour + time.Second)
		if failures, err := event.Settle(t.Context(), f); err != nil || len(failures) > 0 {
			t.Errorf("failures %v, error %v", failures, err)
		}
		synctest.Wait()
		w.Close()
		if want := append(slices.Repeat([]string{"orders 0 injected"}, 12), "orders 1 <nil>"); !slices.Equal(*said, want) {
			t.Errorf("reported %q, want %q", *said, want)
		}
	})
}

// TestPurgeThatHangsIsLeft checks that a purge of an engine that does not answer is canceled after an hour, and repeated.
func TestPurgeThatHangsIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newPurged(func(ctx context.Context, call int) (int, error) {
			if call > 0 {
				return 1, nil
			}
			<-ctx.Done()
			return 0, ctx.Err()
		})
		var said *[]string
		w := newWriter(t, e, indexer.Whole, func(o *indexer.Options) { o.Documents[0].Purge = time.Hour; said = reported(o) })
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		w.Close()
		if len(*said) < 2 || !strings.Contains((*said)[0], context.DeadlineExceeded.Error()) || (*said)[1] != "orders 1 <nil>" {
			t.Errorf("reported %q", *said)
		}
	})
}

// TestPurgeEndsWithTheWriter checks that Close does not wait for an engine that hangs, and that the canceled purge is not reported as a
// fault.
func TestPurgeEndsWithTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newPurged(func(ctx context.Context, _ int) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		var said *[]string
		w := newWriter(t, e, indexer.Whole, func(o *indexer.Options) { o.Documents[0].Purge = time.Hour; said = reported(o) })
		time.Sleep(time.Minute)
		w.Close()
		if took := time.Since(e.began); took != time.Minute || len(e.calls) != 1 || len(*said) != 0 {
			t.Errorf("closed after %v, calls %q, reported %q", took, e.calls, *said)
		}
		failures, err := event.Settle(t.Context(), submit(w, indexertest.Event(1, "a", "x")))
		if err != nil || len(failures) != 1 || failures[0].Verdict != event.Retry || !errors.Is(failures[0].Err, indexer.ErrClosed) {
			t.Errorf("after Close: failures %v, error %v", failures, err)
		}
	})
}
