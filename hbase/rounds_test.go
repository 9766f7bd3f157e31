package hbase

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
)

// A thousand regions that leave their server at once cause few reads of hbase:meta, and none if the server says where they went.
func TestThousandRegionsThatMoveCostFewLookUps(t *testing.T) {
	const regions = 1000
	var splits, rows []string
	for i := range regions {
		rows = append(rows, fmt.Sprintf("%04d", i))
	}
	splits = rows[1:]
	s := startEmbedded(t, embedded.Options{})
	host, port, err := net.SplitHostPort(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		class, text string
		failures    int // per region
		most        int // limit on look-ups
	}{
		{"NotServingRegionException", "", 1, 40},
		// From its second failure on, a region rides alone: how many others wait when it is looked up depends on the machine.
		{"NotServingRegionException", "", 4, 40 + 2*regions},
		{"exceptions.RegionMovedException", "Region moved to: hostname=" + strings.Replace(host, "127.0.0.1", "localhost", 1) + " port=" + port + " startCode=1. As of locationSeqNum=9.", 1, 0},
	} {
		t.Run(fmt.Sprint(tt.class, tt.failures), func(t *testing.T) {
			var lookups, states atomic.Int32
			opts := patient("rpc://" + s.Addr())
			opts.Hooks.Call = func(i CallInfo) {
				switch i.Method {
				case "Scan":
					lookups.Add(1)
				case "Get": // of the table state
					states.Add(1)
				}
			}
			c := open(t, opts)
			fresh := tt.most == 40
			start := time.Now()
			if fresh {
				createTable(t, c, "t", splits...)
			}
			lookups.Store(0)
			states.Store(0)
			if failed := land(t, c, puts(rows...)); failed != nil {
				t.Fatal(failed)
			}
			first, late := lookups.Swap(0), 4*int64(time.Since(start)/lookAfter)
			moved := map[string]int{}
			defer s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
				r.Keep()
				out := &embedded.Outcome{Regions: map[string]*embedded.Exception{}}
				for _, ra := range r.Param.(*hbasepb.MultiRequest).RegionAction {
					if name := string(ra.Region.Value); moved[name] < tt.failures {
						moved[name]++
						out.Regions[name] = &embedded.Exception{Class: remote.Package + tt.class, Message: tt.text}
					}
				}
				return out
			})()
			if failed := land(t, c, puts(rows...)); failed != nil {
				t.Fatal(failed)
			}
			if fresh && int64(first) > 5+late {
				t.Errorf("%d look-ups for a new table", first)
			}
			t.Logf("%d look-ups for a table of %d regions, %d and %d of its state when all failed %d times", first, regions, lookups.Load(), states.Load(), tt.failures)
			took := time.Since(start)
			// Like late above: on a slow machine, calls that take a second are watched, and four may be unanswered.
			most := tt.most + 4*int(took/lookAfter)
			if n := int(lookups.Load()); len(moved) != regions || n > most {
				t.Errorf("%d regions moved; %d look-ups, want at most %d", len(moved), n, most)
			}
			const believed = 100 * time.Millisecond          // time for which a table counts as not disabled
			if int(states.Load()) > 2*int(1+took/believed) { // a caller that did not see the last answer in time asks again
				t.Errorf("the table's state was asked for %d times in %v, want about once in %v", states.Load(), took, believed)
			}
		})
	}
}

// Regions that fail again and again are looked up together, although each has its own pause: a look-up includes following regions that wait
// for theirs.
func TestRegionsThatKeepFailingAreLookedUpTogether(t *testing.T) {
	const regions, times, most = 300, 4, 60 // about 26 are seen, otherwise 220
	synctest.Test(t, func(t *testing.T) {
		var rows []string
		for i := range regions {
			rows = append(rows, fmt.Sprintf("%03d", i))
		}
		p := newPeer(t, rows[1:]...)
		var mu sync.Mutex
		var fails map[string]int // by region; nil: none fails
		p.answer = func(c *peerCall) *reply {
			mu.Lock()
			defer mu.Unlock()
			if c.method != "Multi" || fails == nil {
				return nil
			}
			m := c.multi()
			out := acknowledgement(m)
			for i, ra := range m.RegionAction {
				if name := string(ra.Region.Value); fails[name] < times {
					fails[name]++
					out.RegionActionResult[i] = &hbasepb.RegionActionResult{Exception: failedWith(0, "NotServingRegionException", "").Exception}
				}
			}
			return &reply{param: out}
		}
		opts := p.options()
		opts.Retries = 2 * times
		c := p.open(opts)
		if failed := land(t, c, puts(rows...)); failed != nil {
			t.Fatal(len(failed), failed[0])
		}
		first := p.count("Scan")
		mu.Lock()
		fails = make(map[string]int)
		mu.Unlock()
		if failed := land(t, c, puts(rows...)); failed != nil {
			t.Fatal(len(failed), failed[0])
		}
		_ = c.Close()
		p.stop()
		if n := p.count("Scan") - first; n > most || len(fails) != regions {
			t.Errorf("%d look-ups when %d regions failed %d times, want at most %d", n, len(fails), times, most)
		}
	})
}

// If reading hbase:meta fails, all waiting callers fail at once, not each after its own try.
func TestRoundFailsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		gate := make(chan struct{})
		scans := 0
		p.answer = func(c *peerCall) *reply {
			if c.method != "Scan" {
				return nil
			}
			scans++
			r := exception("RegionTooBusyException", "")
			r.after = gate
			return r
		}
		c := p.open(p.options())
		const n = 50
		results := make(chan error, n)
		ask := func(i int) {
			_, err := c.locator.Find(t.Context(), "t", fmt.Append(nil, i))
			results <- err
		}
		go ask(0)
		synctest.Wait() // its round waits at the gate
		for i := 1; i < n; i++ {
			go ask(i)
		}
		synctest.Wait() // they wait for the next round
		close(gate)
		for range n {
			if err := <-results; err == nil || errors.Is(err, remote.ErrNoServer) {
				t.Errorf("error: %v", err)
			}
		}
		c.Close()
		p.stop()
		if scans != 2 {
			t.Errorf("%d reads of hbase:meta, want 2", scans)
		}
	})
}
