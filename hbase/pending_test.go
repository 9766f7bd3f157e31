package hbase

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/hbase/hbasepb"
)

// failingPeer has three regions. The one from "g" to "p" is too busy until it is cured; the first one refuses the row "bad".
func failingPeer(t *testing.T) (p *peer, cured *atomic.Bool) {
	p = newPeer(t, "g", "p")
	cured = new(atomic.Bool)
	_, failing := p.region(1)
	p.answer = func(c *peerCall) *reply {
		if c.method != "Multi" {
			return nil
		}
		out := new(hbasepb.MultiResponse)
		for _, ra := range c.multi().RegionAction {
			result := new(hbasepb.RegionActionResult)
			for _, a := range ra.Action {
				row := string(a.GetMutation().GetRow())
				switch {
				case string(ra.Region.Value) == string(failing) && !cured.Load():
					result.ResultOrException = append(result.ResultOrException, failedWith(a.GetIndex(), "RegionTooBusyException", ""))
				case row == "bad":
					result.ResultOrException = append(result.ResultOrException, failedWith(a.GetIndex(), "TableNotFoundException", ""))
				default:
					result.ResultOrException = append(result.ResultOrException, applied(a.GetIndex()))
					p.mu.Lock()
					p.rows = append(p.rows, row)
					p.mu.Unlock()
				}
			}
			out.RegionActionResult = append(out.RegionActionResult, result)
		}
		return &reply{param: out}
	}
	return p, cured
}

// While one region fails, flights keep copies of their remaining mutations for it, their callers get their batches back, and everything
// submitted is written, in order.
func TestFlightsStallWhileARegionFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, cured := failingPeer(t)
		opts := p.options()
		opts.Pause, opts.Retries, opts.OperationTimeout = 100*time.Millisecond, 1000, time.Hour
		c := p.open(opts)
		var flights []*Flight
		b := NewBatch("t")
		for _, rows := range [][]string{{"a", "h", "z", "i"}, {"bad", "h2", "x"}, {"i", "h"}, {"b"}} {
			b.Reset("t")
			for _, row := range rows {
				b.Mutate([]byte(row))
				b.Put([]byte("e"), []byte("q"), 1, []byte(row))
			}
			f := c.Submit(t.Context(), b)
			flights = append(flights, f)
			left, indexes, err := f.WaitPending(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range indexes {
				if string(left.Row(i)) != rows[indexes[i]] {
					t.Errorf("row %q is left at index %d of %v", left.Row(i), indexes[i], rows)
				}
				got = append(got, string(left.Row(i)))
			}
			want := slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return row[0] == 'a' || row == "b" || row >= "x" })
			if diff := cmp.Diff(want, got, cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
				t.Errorf("of %v are left (- wanted, + got):\n%s", rows, diff)
			}
		}
		cured.Store(true)
		for i, f := range flights {
			failed, err := f.Wait(t.Context())
			if err != nil || (len(failed) != 0) != (i == 1) {
				t.Errorf("flight %d: %v, %+v", i, err, failed)
			}
			if i == 1 && (len(failed) != 1 || failed[0].Index != 0 || failed[0].Kind != NoTable) {
				t.Errorf("%+v", failed)
			}
		}
		var failing []string
		for _, row := range p.appliedRows() {
			if row[0] == 'h' || row[0] == 'i' {
				failing = append(failing, row)
			}
		}
		if diff := cmp.Diff([]string{"h", "i", "h2", "i", "h"}, failing); diff != "" {
			t.Error(diff)
		}
		c.Close()
		p.stop()
	})
}

// A failure after a flight has stalled is reported by the index in the submitted batch.
func TestStalledFlightFailsByTheSubmittedIndexes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := failingPeer(t)
		opts := p.options()
		opts.Pause, opts.Retries = 100*time.Millisecond, 3
		c := p.open(opts)
		f := c.Submit(t.Context(), puts("a", "h", "z", "i"))
		if _, indexes, err := f.WaitPending(t.Context()); err != nil || !slices.Equal(indexes, []int32{1, 3}) {
			t.Fatal(err, indexes)
		}
		failed, err := f.Wait(t.Context())
		if err != nil || len(failed) != 2 || failed[0].Index != 1 || failed[1].Index != 3 || failed[0].Kind != Transient || failed[0].Attempts != 4 {
			t.Fatal(err, failed)
		}
		if left, _, err := f.WaitPending(t.Context()); left != nil || err != nil {
			t.Error("a flight that is done has something left")
		}
		c.Close()
		p.stop()
	})
}

// A flight does not stall if its region fails once: usually the region is back at once.
func TestOneFailureStallsNothing(t *testing.T) {
	p := newPeer(t)
	p.answer = func(c *peerCall) *reply {
		if c.method == "Multi" && c.nth == 0 {
			return exception("RegionTooBusyException", "")
		}
		return nil
	}
	c := p.open(p.unhurried())
	f := c.Submit(t.Context(), puts("a"))
	if left, _, err := f.WaitPending(t.Context()); left != nil || err != nil {
		t.Error("stalled", err)
	}
}
