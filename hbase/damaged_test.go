package hbase

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// An unreadable row of hbase:meta fails only the rows of its region: its neighbours, read together with it, are written.
func TestOneUnreadableRowOfMeta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, "h", "p")
		p.damaged = map[int]bool{1: true} // h to p
		opts := p.options()
		opts.Pause, opts.Retries, opts.OperationTimeout = 100*ms, 1000, time.Minute
		var mu sync.Mutex
		var reported []RetryInfo
		opts.Hooks.Retry = func(i RetryInfo) {
			mu.Lock()
			defer mu.Unlock()
			reported = append(reported, i)
		}
		c := p.open(opts)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		f := c.Submit(ctx, puts("a", "k", "x"))
		failed, err := f.Wait(ctx)
		if err == nil {
			t.Fatalf("all is written, or given up: %v", failed)
		}
		for _, part := range []string{peerAddr, "invalid answer", `row "t,h,7.`, "PBUF"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v; does not say %q", err, part)
			}
		}
		if got := strings.Join(p.appliedRows(), " "); got != "x a" && got != "a x" {
			t.Errorf("written are %q", got)
		}
		for _, row := range []string{"b", "y"} {
			if _, err := c.Get(t.Context(), "t", Get{Row: []byte(row)}); err != nil {
				t.Error(err)
			}
		}
		mu.Lock()
		if len(reported) == 0 || reported[len(reported)-1].Err == nil || !strings.Contains(reported[len(reported)-1].Err.Error(), "row \"t,h,7.") {
			t.Errorf("the hook got %+v", reported)
		}
		mu.Unlock()
		p.mu.Lock()
		p.damaged = nil
		p.mu.Unlock()
		if failed, err := f.Wait(t.Context()); err != nil || failed != nil {
			t.Errorf("once it can be read: %v %v", failed, err)
		}
		c.Close()
		p.stop()
	})
}

// Unreadable cells of hbase:meta or of a table are a failed try like any other, and the error names their server.
func TestMalformedCellsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		bad := map[string]int{"Scan": 3, "Get": 3}
		p.answer = func(c *peerCall) *reply {
			if bad[c.method] == 0 {
				return nil
			}
			bad[c.method]--
			if c.method == "Get" {
				return &reply{param: &hbasepb.GetResponse{Result: &hbasepb.Result{AssociatedCellCount: proto.Int32(1)}}, cells: []byte("no cell, and long enough for one")}
			}
			return &reply{param: &hbasepb.ScanResponse{CellsPerResult: []uint32{1}}, cells: []byte("no cell, and long enough for one")}
		}
		var reported []RetryInfo
		opts := p.options()
		opts.Hooks.Retry = func(i RetryInfo) { reported = append(reported, i) }
		c := p.open(opts)
		if _, err := c.Get(t.Context(), "t", Get{Row: []byte("a")}); err != nil {
			t.Fatal(err)
		}
		if len(reported) < 4 || reported[0].Region != "" || reported[len(reported)-1].Region == "" {
			t.Fatalf("%d retries: %+v", len(reported), reported)
		}
		for i, r := range reported {
			if r.Failures != i+1 || r.Class != "invalid response" || !strings.Contains(r.Err.Error(), peerAddr+": invalid answer: ") {
				t.Errorf("%+v", r)
			}
		}
		c.Close()
		p.stop()
	})
}
