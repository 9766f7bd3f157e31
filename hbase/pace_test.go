package hbase

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/hbasepb"
)

// sixteen returns the splits of a table of 16 regions, by the first hex digit.
func sixteen() (splits []string) {
	for i := 1; i < 16; i++ {
		splits = append(splits, fmt.Sprintf("%x", i))
	}
	return splits
}

// slowPeer answers each Multi after the time that its slowest region takes.
func slowPeer(t *testing.T, takes func(region int, since time.Duration) time.Duration) *peer {
	p := newPeer(t, sixteen()...)
	start := time.Now()
	index := map[string]int{}
	for k := range 16 {
		_, name := p.region(k)
		index[string(name)] = k
	}
	p.answer = func(c *peerCall) *reply {
		if c.method != "Multi" {
			return nil
		}
		longest := time.Duration(0)
		for _, ra := range c.multi().RegionAction {
			longest = max(longest, takes(index[string(ra.Region.Value)], time.Since(start)))
		}
		after := make(chan struct{})
		time.AfterFunc(longest, func() { close(after) })
		r := p.multi(c)
		r.after = after
		return r
	}
	return p
}

// rates writes to each region as fast as its answers arrive, during two spans of the given length, and returns the mutations per region and
// span. Writes to region late begin a second before the second span, so that in both spans the calls to the other regions have the same
// number of lanes, which is a quarter of the busy ones.
func rates(t *testing.T, c *Client, span time.Duration, late int) (n [2][16]int) {
	done := make(chan struct{})
	start := time.Now()
	for k := range 16 {
		go func() {
			defer func() { done <- struct{}{} }()
			if k == late {
				time.Sleep(span - time.Second)
			}
			for i := 0; ; i++ {
				f := c.Submit(t.Context(), puts(fmt.Sprintf("%x%d", k, i)))
				if failed, err := f.Wait(t.Context()); err != nil || failed != nil {
					t.Error(failed, err)
					return
				}
				at := int(time.Since(start) / span)
				if at > 1 {
					return
				}
				n[at][k]++
			}
		}()
	}
	for range 16 {
		<-done
	}
	return n
}

// otherRegions compares the rates of the other regions in both spans, except for the failing region and the number of mates that may suffer
// with it. A single region may by chance be a little slower than all of them together.
func otherRegions(t *testing.T, n [2][16]int, failing, mates int, least float64) {
	t.Helper()
	var lost []int
	before, during := 0, 0
	for k := range 16 {
		if k == failing {
			continue
		}
		before, during = before+n[0][k], during+n[1][k]
		if float64(n[1][k]) < (least-0.1)*float64(n[0][k]) {
			lost = append(lost, k)
		}
	}
	t.Logf("before %v\nduring %v: the others %d of %d", n[0], n[1], during, before)
	if len(lost) > mates {
		t.Errorf("regions %v lost more than %.0f %%", lost, 100-100*least)
	}
	if mates == 0 && float64(during) < least*float64(before) {
		t.Errorf("the others wrote %d of %d", during, before)
	}
}

// A region whose calls take 40 times as long as the others' does not hold them up: it rides alone, and returns to them later.
func TestSlowLaneRidesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := slowPeer(t, func(k int, since time.Duration) time.Duration {
			if k == 5 && since >= 10*time.Second {
				return 400 * ms
			}
			return 10 * ms
		})
		c := p.open(p.options())
		otherRegions(t, rates(t, c, 10*time.Second, 5), 5, 0, 0.9)
		c.Close()
		p.stop()
	})
}

// When all regions become slow alike, none rides alone for long.
func TestWhenAllAreSlowNoneRidesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := slowPeer(t, func(_ int, since time.Duration) time.Duration {
			if since >= 10*time.Second {
				return 200 * ms
			}
			return 10 * ms
		})
		var alone atomic.Int32
		opts := p.options()
		start := time.Now()
		opts.Hooks.Send = func(i SendInfo) {
			if time.Since(start) > 15*time.Second && i.Regions == 1 {
				alone.Add(1)
			}
		}
		c := p.open(opts)
		n := rates(t, c, 10*time.Second, -1)
		t.Log(n, alone.Load())
		if alone.Load() > 8 {
			t.Errorf("%d calls with one region", alone.Load())
		}
		c.Close()
		p.stop()
	})
}

// A call that hangs delays only the lanes in it, at most a quarter.
func TestHangingRegionHoldsUpOnlyItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := slowPeer(t, func(k int, since time.Duration) time.Duration {
			if k == 5 && since >= 10*time.Second && since < 20*time.Second {
				return 20*time.Second - since
			}
			return 10 * ms
		})
		opts := p.options()
		opts.RPCTimeout, opts.OperationTimeout = time.Minute, 2*time.Minute
		c := p.open(opts)
		otherRegions(t, rates(t, c, 10*time.Second, 5), 5, 3, 0.9)
		c.Close()
		p.stop()
	})
}

// A region out of 16 that is too busy, or not served, for a long time costs the others nothing.
func TestFailingRegionCostsTheOthersNothing(t *testing.T) {
	for _, class := range []string{"RegionTooBusyException", "NotServingRegionException"} {
		t.Run(class, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				p := slowPeer(t, func(int, time.Duration) time.Duration { return 10 * ms })
				_, failing := p.region(5)
				tame := p.answer
				p.answer = func(c *peerCall) *reply {
					r := tame(c)
					if since := time.Since(start); c.method != "Multi" || since < 10*time.Second || since > 20*time.Second {
						return r
					}
					for i, ra := range c.multi().RegionAction {
						if string(ra.Region.Value) == string(failing) {
							out := r.param.(*hbasepb.MultiResponse).RegionActionResult[i]
							out.ResultOrException, out.Exception = nil, failedWith(0, class, "").Exception
						}
					}
					return r
				}
				opts := p.options()
				opts.Pause, opts.Retries, opts.OperationTimeout = 100*ms, 100, time.Minute
				c := p.open(opts)
				otherRegions(t, rates(t, c, 10*time.Second, 5), 5, 0, 0.9)
				c.Close()
				p.stop()
			})
		})
	}
}
