package hbase

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

// A thousand regions that leave their server at once cost few reads of hbase:meta; none at all when the server says whither.
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
		failures    int // of each region
		most        int // look-ups
	}{
		{"NotServingRegionException", "", 1, 40},
		{"NotServingRegionException", "", 4, 40 + 3*regions}, // from its second failure on a region rides alone, and is looked up alone when nobody else is there to join
		{"exceptions.RegionMovedException", "Region moved to: hostname=" + strings.Replace(host, "127.0.0.1", "localhost", 1) + " port=" + port + " startCode=1. As of locationSeqNum=9.", 1, 0},
	} {
		t.Run(fmt.Sprint(tt.class, tt.failures), func(t *testing.T) {
			c := open(t, patient("rpc://"+s.Addr()))
			fresh := tt.most == 40
			start := time.Now()
			if fresh {
				createTable(t, c, "t", splits...)
			}
			var lookups, states atomic.Int32
			c.opts.Hooks.Call = func(i CallInfo) {
				switch i.Method {
				case "Scan":
					lookups.Add(1)
				case "Get": // of the table's state
					states.Add(1)
				}
			}
			if failed := land(t, c, puts(rows...)); failed != nil {
				t.Fatal(failed)
			}
			first := lookups.Swap(0)
			moved := map[string]int{}
			defer s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
				r.Keep()
				out := &embedded.Outcome{Regions: map[string]*embedded.Exception{}}
				for _, ra := range r.Param.(*hbasepb.MultiRequest).RegionAction {
					if name := string(ra.Region.Value); moved[name] < tt.failures {
						moved[name]++
						out.Regions[name] = &embedded.Exception{Class: packagePrefix + tt.class, Message: tt.text}
					}
				}
				return out
			})()
			if failed := land(t, c, puts(rows...)); failed != nil {
				t.Fatal(failed)
			}
			if fresh && first > 5 {
				t.Errorf("%d look-ups for a new table", first)
			}
			t.Logf("%d look-ups for a table of %d regions, %d and %d of its state when all failed %d times", first, regions, lookups.Load(), states.Load(), tt.failures)
			took := time.Since(start)
			most := tt.most + 4*int(took/lookAfter) // a call that a slow machine keeps for a second is looked after, and four may be out
			if n := int(lookups.Load()); len(moved) != regions || n > most {
				t.Errorf("%d regions moved; %d look-ups, want at most %d", len(moved), n, most)
			}
			if int(states.Load()) > 2*int(1+took/enabledFor) { // who did not see the last answer in time asks again
				t.Errorf("the table's state was asked for %d times in %v, want about once in %v", states.Load(), took, enabledFor)
			}
		})
	}
}

// What keeps hbase:meta from being read fails all who wait, at once: not each after a try of its own.
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
			_, err := c.locator.find(t.Context(), "t", fmt.Append(nil, i))
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
			if err := <-results; err == nil || errors.Is(err, errNoServer) {
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
